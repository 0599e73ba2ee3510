/** What is done to many paths is done by as many commands as for few: none is started for each path. */
import { expect } from 'vitest';
import { commandFaults } from '../support/command-faults.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { MANY_WORK } from '../support/many-work.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-many-at-once', 4);

/** More than are given to a command as its arguments, and than are compared one by one (200 branches). */
const FEW = 220;
const MANY = 440;

test.for(MANY_WORK)('%s: commands', async ([, make, change]) => {
  const commands = async (n: number): Promise<string[]> => {
    using faults = commandFaults();
    await using harness = await withRepositories(['app'], { env: faults.env, maxFileBytes: 4000 });
    harness.sh(`n=${n}; ${make}`, 'app');
    const first = await harness.capture();
    harness.sh(`n=${n}; ${change}`, 'app');
    const calls = await faults.record(async () => {
      const { undo, report } = await harness.rollback(first);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      const back = await harness.rollback(undo);
      expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
    });
    return calls.map(({ line }) => line.slice(0, 60));
  };
  const few = await commands(FEW);
  const many = await commands(MANY);
  // A slow walk may cost a few more.
  expect(many.length - few.length, many.join('\n')).toBeLessThan(20);
});
