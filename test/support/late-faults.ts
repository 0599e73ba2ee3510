/**
 * Git fails while late writes are captured, or while the sandbox is told that they are stored. They are captured whole, or
 * the call says that it failed; and the same call made again has all of them.
 */
import { expect } from 'vitest';
import { commandFaults, everyFault, faultName } from './command-faults.ts';
import { createVerdict } from './disk-faults.ts';
import { lateScene } from './late-scene.ts';
import { sampled, WHOLE } from './sampling.ts';

export const lateFaults = async (every: number, offset: number): Promise<void> => {
  using faults = commandFaults();
  await using scene = await lateScene({ env: faults.env });
  scene.reset();
  const calls = await faults.record(scene.store);
  const cases = sampled(everyFault(calls), { every, whole: 1, offset, minimum: WHOLE ? 12 : 3 });
  const outcomes = new Map<string, number>();
  const verdict = createVerdict();
  let met = 0;
  for (const fault of cases) {
    scene.reset();
    const { hit, error } = await faults.withFault(fault, scene.store);
    if (hit !== undefined) met += 1;
    await verdict.check(`${faultName(fault)}: ${hit}`, async () => {
      const outcome = await scene.isWholeOrTold(error, faultName(fault));
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    });
  }
  process.stderr.write(`${cases.length} of ${calls.length * 6} faults: ${JSON.stringify([...outcomes])}\n`);
  expect(verdict.bad).toEqual([]);
  // Where repositories are captured side by side, a call may be another one than in the run that counted them.
  expect(met, 'faults that were met').toBeGreaterThanOrEqual(cases.length / 2);
};
