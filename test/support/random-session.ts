/** Random sessions in which content returns: what is written, how large it is, and that every checkpoint gives it back. */

import * as fc from 'fast-check';
import { expect } from 'vitest';
import { KIB } from '../../contract/sizes.ts';
import { createGitStage, type GitStage, type GitStageOptions } from './git-stage.ts';
import { fingerprint } from './world.ts';

const PATHS = ['app'];

/**
 * Limits that small content crosses: bundles on both sides of what an answer carries, of what goes through the function, of what
 * becomes loose objects; chains that end for their length and for their weight.
 */
export const SMALL_LIMITS: Required<Pick<GitStageOptions, 'bundles' | 'git'>> = {
  bundles: {
    maxLinks: 7,
    maxLightLinks: 4,
    lightChainBytes: 6 * KIB,
    chainFloorBytes: 48 * KIB,
    carriedBytes: 12 * KIB,
  },
  git: { outputBytes: 2 * KIB, links: { smallBytes: 3 * KIB, smallObjects: 8 } },
};

/** A few contents that come back again and again, and how many lines they have. */
const CONTENTS = [
  ['1', 60],
  ['2', 60],
  ['3', 400],
] as const;

const content = (seed: string, lines: number): string =>
  `awk -v n=${lines} 'BEGIN { srand(${seed}); for (i = 0; i < n; i++) print i, rand() }'`;

/** Something random of that size, so that a bundle is about as large. */
const noise = (bytes: number): string => `head -c ${bytes} /dev/urandom`;

const file = fc.constantFrom('f', 'f', 'dir/h');
const change = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(file, fc.constantFrom(...CONTENTS))
      .map(([name, [what, lines]]) => `mkdir -p dir; ${content(what, lines)} > ${name}`),
  },
  { weight: 6, arbitrary: file.map((name) => `mkdir -p dir; echo line >> ${name}`) },
  { weight: 1, arbitrary: file.map((name) => `rm -f ${name}`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(file, fc.constantFrom(900, 2_500, 4_000, 11_000, 14_000, 40_000))
      .map(([name, bytes]) => `mkdir -p dir; ${noise(bytes)} > ${name}.noise`),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      `mkdir -p many; for i in 1 2 3 4 5 6 7 8 9 10; do echo "$i $RANDOM" > many/$i; done`,
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('2755', '3777', '00755', '700')
      .map((mode) => `mkdir -p dir; chmod ${mode} dir; rm -rf dir/in; mkdir dir/in; echo in > dir/in/i`),
  },
  { weight: 1, arbitrary: fc.constant('git add -A; git commit -q --allow-empty -m more') },
  {
    weight: 1,
    arbitrary: fc.constant('git add -A; git commit -q --allow-empty --amend -m other; git gc -q --prune=now'),
  },
  { weight: 1, arbitrary: fc.constant('rm -rf .agent-shadow') },
);

export type Edit = { path: string; script: string };

export const edits = (limits: { minLength: number; maxLength: number }): fc.Arbitrary<Edit[]> =>
  fc.array(fc.record({ path: fc.constantFrom(...PATHS), script: change }), limits);

const NEW = `git init -q -b main . && echo one > f && mkdir dir && echo two > dir/h && git add -A && git commit -qm one`;

interface CheckpointLooks {
  checkpointId: string;
  looks: string[];
}

const play = async (stage: GitStage, sandboxId: string, all: readonly Edit[]): Promise<CheckpointLooks[]> => {
  const looks = (): string[] => fingerprint(stage.rootOf(sandboxId), PATHS);
  const first = await stage.start('s1', sandboxId);
  const taken: CheckpointLooks[] = [{ checkpointId: first.checkpointId, looks: looks() }];
  for (const [n, { path, script }] of all.entries()) {
    stage.sh(sandboxId, script, path);
    const { checkpointId, complete } = await stage.checkpoint('s1', `t${n}`);
    expect(complete, `checkpoint ${n}`).toBe(true);
    taken.push({ checkpointId, looks: looks() });
  }
  return taken;
};

/** Every checkpoint of a session of these edits restores in a fresh sandbox; answers how many links each chain had. */
export const allRestore = async (all: readonly Edit[], options: GitStageOptions): Promise<number[]> => {
  await using stage = await createGitStage(options);
  const sandboxId = await stage.addSandbox();
  for (const path of PATHS) stage.sh(sandboxId, `mkdir ${path} && cd ${path} && ${NEW}`);
  const taken = await play(stage, sandboxId, all);
  for (const [n, { checkpointId, looks }] of taken.entries()) {
    const copy = await stage.rehydrate('s1', checkpointId);
    expect(fingerprint(stage.rootOf(copy.sandboxId), PATHS), `checkpoint ${n}`).toEqual(looks);
    await stage.kill(copy.sandboxId);
  }
  return [...stage.store.tables.links.values()].map(({ bundle }) => bundle.sizeBytes);
};
