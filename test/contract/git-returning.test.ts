/** Content that comes back: the objects of a chain then occur in several of its links (docs/design.md, "How a capture becomes durable"). */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { withRepositories, world } from '../support/git-repositories.ts';

/** Outside the repository, `a` is 4,000 shuffled lines and `b` the same in another order. */
const MAKE = `git init -q -b main . && echo one > f && git add -A && git commit -qm one && mkdir -p ../../kept
  for n in a b; do seq 1 4000 | shuf --random-source=<(yes $n) > ../../kept/$n; done`;

const EDITS = ['cp ../../kept/a f', 'cp ../../kept/b f', 'cp ../../kept/a f', 'echo line >> f'];

/** A chain in which content returns and later links build on it. `first` goes with the first edit. */
const play = async (harness: Harness, first: string) => {
  await harness.capture();
  harness.sh(first, 'app');
  let last = await harness.capture();
  for (const edit of EDITS) {
    harness.sh(edit, 'app');
    last = await harness.capture();
  }
  return { last, looks: world(harness, ['app']) };
};

describe('a file that returns to what it was, and is edited again,', () => {
  test.each([
    ['beside a large file', `cp ../../kept/a f && head -c 3000000 /dev/urandom > large`],
    ['by small edits', `head -c 100 /dev/urandom > f`],
  ])('is restored in a fresh sandbox, %s', async (_where, first) => {
    await using harness = await withRepositories(['app'], {}, MAKE);
    const { last, looks } = await play(harness, first);
    const report = await harness.rehydrate(last);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(looks);
  });
});

describe('links that git does not take', () => {
  test.each([
    ['joined are taken each by itself', EDITS.length + 1],
    ['as loose objects are taken as a pack', 1],
  ])('%s', async (_what, edits) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-refusing-'));
    const refused = `${directory.path}/refused`;
    const path = process.env['PATH'] ?? '';
    writeFileSync(
      `${directory.path}/git`,
      `#!/bin/bash\nif [ "$1" = unpack-objects ]; then echo no >>${refused}; exit 1; fi\nPATH=${path} exec git "$@"\n`,
      { mode: 0o755 },
    );
    await using harness = await withRepositories(
      ['app'],
      { env: { PATH: `${directory.path}:${path}` } },
      MAKE,
    );
    await harness.capture();
    for (let n = 1; n < edits; n++) {
      harness.sh(`echo ${n} > "file ${n}" && echo ${n % 2} > f`, 'app');
      await harness.capture();
    }
    harness.sh('echo last > f', 'app');
    const last = await harness.capture();
    const looks = world(harness, ['app']);
    const report = await harness.rehydrate(last);
    expect(report.problems).toEqual([]);
    expect(world(harness, ['app'])).toEqual(looks);
    expect(readFileSync(refused, 'utf8')).toBe('no\n');
  });
});
