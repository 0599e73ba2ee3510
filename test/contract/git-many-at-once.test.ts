/**
 * What is done to many paths is done by as many commands as for few: none is started for each path. In `npm run test:long` it also
 * costs the shell as much for each of them as for few: nothing is compared with everything else.
 */
import { expect } from 'vitest';
import { commandFaults } from '../support/command-faults.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { MANY_WORK } from '../support/many-work.ts';
import { OF_SCRIPTS } from '../support/of-scripts.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';
import { type Trace, takeTrace, traceInto } from '../support/shell-trace.ts';

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

/** Three times as many may cost a bit more each, as names get longer. With the square they would cost nine times as much. */
const MOST = 5;

const tracesOf = async (n: number, make: string, change: string): Promise<Map<string, Trace>> => {
  await using harness = await withRepositories(['app'], { maxFileBytes: 4000, changes: true });
  const file = `${harness.top}/trace`;
  const traces = new Map<string, Trace>();
  traceInto(harness.sandbox, file);
  const note = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const done = await work();
    traces.set(what, takeTrace(file));
    return done;
  };
  harness.sh(`n=${n}; ${make}`, 'app');
  // The native program captures.
  const first = await harness.capture();
  harness.sh(`n=${n}; ${change}`, 'app');
  const second = await harness.capture();
  const { undo, report } = await note('rollback', () => harness.rollback(first));
  expect(report.problems).toEqual([]);
  const back = await note('undo', () => harness.rollback(undo));
  expect(back.report.problems).toEqual([]);
  const steps = [{ base: second, theirs: first }];
  const app = Array.from({ length: n }, (_, at) => `m/${at + 1}`);
  await note('revert', () => harness.compose(steps, { own: true }));
  await note('some paths', () => harness.compose(steps, { own: true, paths: { app } }));
  await note('rehydrate', () => harness.rehydrate(second));
  return traces;
};

longTest.for(MANY_WORK)(
  '%s: statements of the shell',
  { timeout: 600_000, ...OF_SCRIPTS },
  async ([, make, change]) => {
    const few = await tracesOf(FEW, make, change);
    const many = await tracesOf(3 * FEW, make, change);
    for (const [what, { statements, bytes }] of few) {
      const more = many.get(what);
      expect(more?.statements, `${what}: statements`).toBeLessThan(MOST * statements);
      expect(more?.bytes, `${what}: bytes of the trace`).toBeLessThan(MOST * bytes);
    }
  },
);
