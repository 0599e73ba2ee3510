/** Rollbacks there and back, each beside a process that writes at random instants into what they move. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { SandboxProgram } from '../../adapters/git/program/call.ts';
import type { Snapshot } from './git-harness.ts';
import { applies, withRepositories } from './git-repositories.ts';
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
  const first = await harness.capture();
  const states = [first];
  harness.sh(
    `for i in ${names.join(' ')}; do echo two > $i; done${onlyContent ? '' : '; rm e; echo n > n'}`,
    'app',
  );
  states.push(await harness.capture());
  let written = 0;
  const paths = [...names, ...(onlyContent ? [] : ['n'])].map((name) => `${harness.root}/app/${name}`);
  const outcomes: string[] = [];
  const isAside = () => existsSync(join(harness.root, '.agent-shadow/aside-s1'));
  // The faster a rollback is, the fewer writes fall into it.
  const most = 5 * rounds;
  for (let round = 0; round < rounds || (written <= writes && round < most); round++) {
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
    // What a restore that could not be put back put aside is needed by the next call.
    if (outcomes.at(-1) !== 'broken') expect(isAside(), `SEED=${seed} ${outcomes.join()}`).toBe(false);
    written += writer.words.length;
    // What it wrote after the last look is captured as anything else.
    captures.push(await harness.capture());
    expect(
      await lostWords(harness, 'app', writer.words, captures),
      `SEED=${seed} ${outcomes.join()}`,
    ).toEqual([]);
  }
  await applies(harness, first);
  expect(isAside(), `SEED=${seed}`).toBe(false);
  process.stdout.write(`${written} writes beside ${outcomes.length} rollbacks\n`);
  expect(written).toBeGreaterThan(writes);
};
