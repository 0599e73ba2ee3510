/** Why a capture fails, and what it leaves alone then. */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { TWO_FILES } from '../support/git-repositories.ts';

/** A commit, so that the program leaves the bundle to git. */
const WORK = 'echo two >a.txt; mkdir new; echo new >new/file; git commit -qam two';

/** A git that does this instead of each command with this word, while the file `armed` is there. */
const withGit = async (word: string, instead: string) => {
  const place = await createHarness();
  const [bin, armed] = [`${place.top}/bin`, `${place.top}/armed`];
  mkdirSync(bin);
  writeFileSync(
    `${bin}/git`,
    `#!/bin/sh\nif [ -e '${armed}' ]; then for one; do [ "$one" != ${word} ] || { ${instead}; }; done; fi\nPATH=\${PATH#*:} exec git "$@"\n`,
  );
  chmodSync(`${bin}/git`, 0o755);
  const harness = await createHarness({
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
  });
  harness.sh(`mkdir app other; cd other; ${TWO_FILES}; cd ../app; ${TWO_FILES}`);
  return {
    harness,
    arm: () => writeFileSync(armed, ''),
    disarm: () => rmSync(armed),
    [Symbol.asyncDispose]: async () => {
      await harness[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
};

const MARK = '.agent-shadow/session-s1/mark';
const isMarked = (harness: Harness): boolean => existsSync(`${harness.root}/app/${MARK}`);

describe('a capture that fails', () => {
  test.for([
    'unable to write loose object file: No space left on device',
    'write error: Disk quota exceeded',
    "sha1 file 'index.lock' write error. Out of diskspace",
  ])('because the disk is full leaves the shadow, and says so: %s', async (says) => {
    await using place = await withGit('pack-objects', `echo "fatal: ${says}" >&2; exit 128`);
    const { harness } = place;
    const first = await harness.capture();
    harness.sh(`${WORK}; echo ours >${MARK}`, 'app');
    place.arm();
    const { report } = await harness.capture();
    expect(report.failures).toEqual([{ path: 'app', reason: expect.stringContaining(says) }]);
    expect(isMarked(harness)).toBe(true);
    place.disarm();
    harness.standOn(first);
    const next = await harness.capture();
    expect([next.report.failures, next.repositories.find(({ path }) => path === 'app')?.chain]).toEqual([
      [],
      'append',
    ]);
  });

  test.for(['pack-objects', 'cat-file', 'check-ignore'])(
    'because %s is killed each time fails the call, and leaves the shadow',
    async (word) => {
      await using place = await withGit(word, 'kill -9 $$');
      const { harness } = place;
      await harness.capture();
      harness.sh(`${WORK}; echo ours >${MARK}`, 'app');
      place.arm();
      await expect(harness.capture()).rejects.toMatchObject({
        name: 'SandboxUnavailable',
        message: expect.stringContaining('ended by signal 9'),
      });
      expect(isMarked(harness)).toBe(true);
      place.disarm();
      expect((await harness.capture()).report.failures).toEqual([]);
    },
  );

  test('because git refuses says what git says, and makes the shadow anew', async () => {
    await using place = await withGit('pack-objects', 'echo "fatal: no packs today" >&2; exit 128');
    const { harness } = place;
    await harness.capture();
    harness.sh(`${WORK}; echo ours >${MARK}`, 'app');
    place.arm();
    const { report } = await harness.capture();
    expect(report.failures).toEqual([
      { path: 'app', reason: 'git could not make the bundle: fatal: no packs today' },
    ]);
    expect(isMarked(harness)).toBe(false);
    expect(report.repositories.map(({ path, state }) => [path, state])).toEqual([
      ['app', 'failed'],
      ['other', 'captured'],
    ]);
  });

  test('because something stands in the way says what to do, and leaves the shadow', async () => {
    await using harness = await createHarness();
    harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
    await harness.capture();
    harness.sh(`echo ours >${MARK}; mkfifo src/.gitignore`, 'app');
    const { report } = await harness.capture();
    expect(report.failures).toEqual([
      { path: 'app', reason: expect.stringMatching(/^src\/\.gitignore .*remove it, then call again$/) },
    ]);
    expect(isMarked(harness)).toBe(true);
  });
});
