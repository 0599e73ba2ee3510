/**
 * Other processes write, rename, truncate and write through memory while the sandbox program looks. What it sees then may be
 * of any instant, but the next look, at which nobody writes, sees what plain git sees: its stat table hides no change.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { lookAt } from '../support/git-states.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 150);

const WRITER = new URL('../support/racing-child.ts', import.meta.url);
const MAPPER = new URL('../support/mapping-child.ts', import.meta.url);

const told = async (child: ChildProcess, message: string): Promise<void> => {
  const answered = once(child, 'message');
  child.send(message);
  await answered;
};

/** The tree that git gives all files, read anew. */
const byGit = (harness: Harness): string =>
  harness
    .sh(
      'export GIT_DIR=../../oracle GIT_WORK_TREE=. GIT_INDEX_FILE=../../oracle/now; rm -f $GIT_INDEX_FILE; git add -A; git write-tree',
      'app',
    )
    .trim();

test('what changed during a look is seen by the next one', { timeout: 1_200_000 }, async () => {
  const seed = chosenSeed();
  await using harness = await createHarness();
  harness.sh(
    `git init -qb main app; cd app; mkdir d0 d1 d2 d3; for d in 0 1 2 3; do for f in 0 1 2 3 4 5; do echo $d$f$f$f >d$d/f$f; done; done; git add .; git commit -qm one
    git init -q ../../oracle; mv ../../oracle/.git/* ../../oracle; git --git-dir=../../oracle config core.bare false; echo /.agent-shadow/ >../../oracle/info/exclude`,
  );
  const app = `${harness.root}/app`;
  const look = async () => (await lookAt(harness))?.tree;
  const writer = fork(WRITER, [String(seed)], { cwd: app });
  const mapper = fork(MAPPER, ['database'], { cwd: app });
  try {
    await once(mapper, 'message');
    let seen = 0;
    const trees = new Set<string | undefined>();
    for (let run = 0; run < RUNS; run++) {
      await told(writer, 'go');
      const mapped = told(mapper, 'write');
      const racing = await look();
      await Promise.all([told(writer, 'stop'), mapped]);
      const expected = byGit(harness);
      expect(await look(), `SEED=${seed}, run ${run}`).toBe(expected);
      trees.add(expected);
      if (racing !== expected) seen += 1;
    }
    process.stdout.write(
      `git-racing: SEED=${seed}: ${RUNS} states compared; ${seen} looks saw another one before\n`,
    );
    expect(trees.size).toBeGreaterThan(RUNS / 2);
    expect(seen).toBeGreaterThan(RUNS / 4);
  } finally {
    for (const child of [writer, mapper]) {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    }
  }
});
