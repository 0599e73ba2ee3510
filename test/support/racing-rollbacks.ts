/** Rollbacks there and back, each beside a process that writes at random instants into what they move. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Snapshot } from './git-harness.ts';
import { withRepositories } from './git-repositories.ts';
import { lostWords, randomFrom, startWriter, storeLate } from './racing-writer.ts';
import { chosenSeed } from './sampling.ts';

/** So many rollbacks, and more writes than `writes`: every one is in the tree, in the undo capture, or in the capture of late writes. */
export const racesWithRollbacks = async (rounds: number, writes: number): Promise<void> => {
  const seed = chosenSeed();
  process.stderr.write(`SEED=${seed}\n`);
  const random = randomFrom(seed);
  await using harness = await withRepositories(['app']);
  const names = ['a', 'b', 'c', 'd', 'e'];
  harness.sh(`for i in ${names.join(' ')}; do echo one > $i; done`, 'app');
  const states = [await harness.capture()];
  harness.sh(`for i in ${names.join(' ')}; do echo two > $i; done; rm e; echo n > n`, 'app');
  states.push(await harness.capture());
  const words: string[] = [];
  const captures: Snapshot[] = [...states];
  const paths = [...names, 'n'].map((name) => `${harness.root}/app/${name}`);
  const outcomes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const target = states[round % 2];
    if (target === undefined) throw new Error('no target');
    const writer = startWriter(paths, random, {
      manners: ['append', 'hold', 'replace'],
      pause: 1 + random() * 4,
    });
    try {
      const { report, undo } = await harness.rollback(target, { company: random() < 0.7 });
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
    words.push(...writer.words);
    // What it wrote after the last look is captured as anything else.
    captures.push(await harness.capture());
    expect(await lostWords(harness, 'app', words, captures), `SEED=${seed} ${outcomes.join()}`).toEqual([]);
  }
  expect(words.length).toBeGreaterThan(writes);
};
