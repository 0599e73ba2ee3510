/** Content that comes back: the objects of a chain then occur in several of its links (docs/design.md, "How a capture becomes durable"). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { shellWord } from '../../cli/options.ts';
import type { Harness } from '../support/git-harness.ts';
import { withRepositories, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-returning', 4);

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
  test.for([
    ['beside a large file', `cp ../../kept/a f && head -c 3000000 /dev/urandom > large`],
    ['by small edits', `head -c 100 /dev/urandom > f`],
  ])('is restored in a fresh sandbox, %s', async ([, first]) => {
    await using harness = await withRepositories(['app'], {}, MAKE);
    const { last, looks } = await play(harness, first);
    const report = await harness.rehydrate(last);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app'])).toEqual(looks);
  });
});

describe('links that git does not take', () => {
  test.for([
    ['joined are taken each by itself', EDITS.length + 1],
    ['as loose objects are taken as a pack', 1],
  ])('%s', async ([, edits]) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-refusing-'));
    const refused = `${directory.path}/refused`;
    const path = process.env['PATH'] ?? '';
    writeFileSync(
      `${directory.path}/git`,
      `#!/bin/bash\nif [ "$1" = unpack-objects ]; then echo no >>${refused}; exit 1; fi\nPATH=${shellWord(path)} exec git "$@"\n`,
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

/** A git that refuses commands whose arguments match this pattern of the shell; each is noted. */
const refusingGit = async (pattern: string, how = 'exit 1') => {
  const directory = await mkdtempDisposable(join(tmpdir(), 'walkback-refusing-'));
  const path = process.env['PATH'] ?? '';
  const noted = `${directory.path}/refused`;
  writeFileSync(noted, '');
  writeFileSync(
    `${directory.path}/git`,
    `#!/bin/bash\nif [[ " $* " == ${pattern} ]]; then echo no >>${noted}; ${how}; fi\nPATH=${shellWord(path)} exec git "$@"\n`,
    { mode: 0o755 },
  );
  return {
    env: { PATH: `${directory.path}:${path}` },
    refusals: () => readFileSync(noted, 'utf8').split('\n').length - 1,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
};

describe('links that hold many objects together', () => {
  /** Twelve links of ten new files each. The first line of each edit names what returns. */
  const manyLinks = async (harness: Harness, edit: string) => {
    let last = await harness.capture();
    for (let n = 0; n < 12; n++) {
      harness.sh(`n=${n}; for i in {1..10}; do echo "$n $i" >"file $n $i"; done; ${edit}`, 'app');
      last = await harness.capture();
    }
    return { last, looks: world(harness, ['app']) };
  };

  test.for([
    ['become one pack', 'echo $n >f', 'none', 0, 1],
    ['become loose objects where one is in two of them', 'echo $((n % 3)) >f', 'none', 0, 0],
    ['become loose objects where git refuses the pack', 'echo $n >f', '*/tmp_joined.*', 1, 0],
    [
      'are taken each by itself where git refuses both',
      'echo $n >f',
      '*@(/tmp_joined.|" unpack-objects ")*',
      2,
      13,
    ],
  ])('%s', async ([, edit, refused, refusals, packs]) => {
    await using git = await refusingGit(refused);
    await using harness = await withRepositories(['app'], { env: git.env }, MAKE);
    const { last, looks } = await manyLinks(harness, edit);
    const report = await harness.rehydrate(last);
    expect(report.problems).toEqual([]);
    expect(world(harness, ['app'])).toEqual(looks);
    expect(git.refusals()).toBe(refusals);
    const names = readdirSync(`${harness.root}/app/.agent-shadow/session-s1/objects/pack`);
    expect(names.filter((name) => name.endsWith('.idx'))).toHaveLength(packs);
    expect(names.filter((name) => name.startsWith('tmp'))).toEqual([]);
  });

  test.for(['*/tmp_joined.*', '*" show-index "*'])(
    'come all the same when git is killed at %s',
    async (pattern) => {
      await using git = await refusingGit(pattern, 'kill -KILL $$');
      await using harness = await withRepositories(['app'], { env: git.env }, MAKE);
      const { last, looks } = await manyLinks(harness, 'echo $n >f');
      const report = await harness.rehydrate(last);
      expect(report.problems).toEqual([]);
      expect(git.refusals()).toBe(1);
      expect(world(harness, ['app'])).toEqual(looks);
    },
  );
});
