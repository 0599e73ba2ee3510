/** Named pipes where a file is read: nothing waits for them, the file is named, and the other repositories do not suffer. */
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { createRepositories } from '../../adapters/git/repositories.ts';
import type { Harness } from '../support/git-harness.ts';
import { PIPES } from '../support/git-pipes.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-pipes', 16);

/** Far beyond what any of this takes. Nothing is measured: it only ends what would wait for its deadline. */
const WATCHDOG_MS = 60_000;

/** Does this; what still waits for a pipe after a long time is let go, and fails by name. */
const unheld = async <T>(what: string, pipes: string[], work: () => Promise<T>): Promise<T> => {
  const held = new Set<string>();
  let letGo: NodeJS.Timeout | undefined;
  const watchdog = setTimeout(() => {
    held.add(what);
    // Both ways and without waiting, so that whoever waits at the other end goes on, and is at its end at once.
    letGo = setInterval(() => {
      for (const pipe of pipes) {
        try {
          closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
        } catch {}
      }
    }, 50);
  }, WATCHDOG_MS);
  try {
    return await work();
  } finally {
    clearTimeout(watchdog);
    clearInterval(letGo);
    expect([...held], 'waited for a named pipe').toEqual([]);
  }
};

const said = ({ report }: Awaited<ReturnType<Harness['capture']>>): string =>
  [...report.failures, ...report.skipped].map(({ path, reason }) => `${path}: ${reason}`).join('\n');

describe('a named pipe', () => {
  test.for(
    PIPES.map((one) => [`${one.at}${one.before === undefined ? '' : ` after ${one.before}`}`, one] as const),
  )(
    'at %s',
    async ([, { at, before, just, include, said: expected, isCaptured, isCapturedElsewhere = true }]) => {
      await using harness = await withTwoFiles(['app', 'web'], include === undefined ? {} : { include });
      harness.sh(before ?? '', 'app');
      const first = await harness.capture();
      harness.sh(
        'git checkout -q -b topic; echo two > a.txt; git commit -qam two; echo three > a.txt; git checkout -q --detach',
        'app',
      );
      harness.sh('echo two > a.txt', 'web');
      harness.sh(just ?? '', 'app');
      harness.sh(`rm -rf ${at}; mkdir -p ${at}; rmdir ${at}; mkfifo ${at}`);
      const pipes = [join(harness.root, at)];
      const about = { projectsRoot: harness.root, timeoutMs: 240_000 };
      const repositories = createRepositories(programHere());

      const surveyed = await unheld('survey', pipes, () =>
        repositories.survey(harness.sandbox, { ...about, maxDepth: 4, detail: true }),
      );
      expect(surveyed.repositories.map(({ path }) => path)).toContain('web');
      const listed = await unheld('directories', pipes, () =>
        repositories.directories(harness.sandbox, { ...about, paths: ['app', 'web'], maxEntries: 100 }),
      );
      expect(listed.map(({ entries }) => entries.includes('a.txt'))).toEqual([true, true]);

      const second = await unheld('capture', pipes, () => harness.capture());
      const states = Object.fromEntries(second.repositories.map(({ path, state }) => [path, state]));
      expect(states).toMatchObject({
        app: isCaptured ? 'captured' : 'failed',
        web: isCapturedElsewhere ? 'captured' : 'failed',
      });
      expect(said(second)).toContain(expected);
      if (expected === '') expect(second.report.failures).toEqual([]);

      const tree = (snapshot: typeof first) =>
        snapshot.repositories.find(({ path }) => path === 'app')?.tree ?? null;
      const pair = {
        path: 'app',
        from: tree(first),
        to: tree(isCaptured ? second : first),
      };
      await unheld('diff', pipes, () =>
        repositories.diff(harness.sandbox, {
          ...about,
          sessionId: 's1',
          pairs: [pair],
          statOnly: false,
          maxBytes: 10_000,
        }),
      );
      await unheld('a plan', pipes, () => harness.rollback(first, { dryRun: true, from: second }));
      const { report } = await unheld('a rollback', pipes, () => harness.rollback(first));
      expect(['applied', 'refused', 'reverted']).toContain(report.outcome);
      // Where it was not applied, it is named.
      if (report.outcome !== 'applied')
        expect(JSON.stringify(report.problems)).toContain(at.split('/').pop());

      // And all is well again without it.
      harness.sh(`if [ -p ${at} ]; then rm ${at}; fi`);
      harness.standOn(undefined);
      await unheld('a capture without it', pipes, () => harness.capture());
    },
  );
});
