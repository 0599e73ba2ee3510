/** Rollbacks there and back, each beside a process that writes at random instants into what they move. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxProgram } from '../../adapters/git/program/call.ts';
import type { Snapshot } from './git-harness.ts';
import { withRepositories } from './git-repositories.ts';
import { lostWords, randomFrom, startWriter, storeLate } from './racing-writer.ts';
import { chosenSeed } from './sampling.ts';

/** So many rollbacks, and more writes than `writes`: every one is in the tree, in the undo capture, or in the capture of late writes. */
export const racesWithRollbacks = async (
  rounds: number,
  writes: number,
  /** Files only change: their old and new ones are exchanged by one process. */
  { onlyContent = false, pause = 4, program = undefined as SandboxProgram | undefined } = {},
): Promise<void> => {
  const seed = chosenSeed();
  process.stderr.write(`SEED=${seed}\n`);
  const random = randomFrom(seed);
  await using harness = await withRepositories(['app'], program && { program });
  const names = ['a', 'b', 'c', 'd', 'e'];
  harness.sh(`for i in ${names.join(' ')}; do echo one > $i; done`, 'app');
  const states = [await harness.capture()];
  harness.sh(
    `for i in ${names.join(' ')}; do echo two > $i; done${onlyContent ? '' : '; rm e; echo n > n'}`,
    'app',
  );
  states.push(await harness.capture());
  let written = 0;
  const paths = [...names, ...(onlyContent ? [] : ['n'])].map((name) => `${harness.root}/app/${name}`);
  const outcomes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const target = states[round % 2];
    if (target === undefined) throw new Error('no target');
    const captures: Snapshot[] = [...states];
    const writer = startWriter(paths, random, {
      manners: ['append', 'hold', 'replace'],
      pause: pause / 4 + random() * pause,
    });
    try {
      const { report, undo } = await harness.rollback(target, { allowConcurrentWriters: random() < 0.7 });
      captures.push(undo);
      outcomes.push(report.outcome);
      // While it goes on writing, as after a rollback, and what it wrote since through files it held open.
      if ((report.asides ?? []).length > 0) captures.push(await storeLate(harness, undo));
      await writer.stop();
      if ((report.asides ?? []).length > 0) captures.push(await storeLate(harness, undo));
    } finally {
      await writer.stop();
    }
    expect(existsSync(join(harness.root, '.agent-shadow/aside-s1')), `SEED=${seed}`).toBe(false);
    written += writer.words.length;
    // What it wrote after the last look is captured as anything else.
    captures.push(await harness.capture());
    expect(
      await lostWords(harness, 'app', writer.words, captures),
      `SEED=${seed} ${outcomes.join()}`,
    ).toEqual([]);
  }
  process.stdout.write(`${written} writes beside ${rounds} rollbacks\n`);
  expect(written).toBeGreaterThan(writes);
};
