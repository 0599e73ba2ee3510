/** What is done to many paths costs the shell as much for each of them as for few: nothing is compared with everything else. */
import { expect, test } from 'vitest';
import { withRepositories } from '../support/git-repositories.ts';
import { MANY_WORK } from '../support/many-work.ts';
import { type Trace, takeTrace, traceInto } from '../support/shell-trace.ts';

/** More than are compared one by one (200 branches). */
const FEW = 250;
const MANY = 3 * FEW;
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
  const first = await note('first capture', () => harness.capture());
  harness.sh(`n=${n}; ${change}`, 'app');
  const second = await note('second capture', () => harness.capture());
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

test.for(MANY_WORK)('%s', { timeout: 600_000 }, async ([, make, change]) => {
  const few = await tracesOf(FEW, make, change);
  const many = await tracesOf(MANY, make, change);
  for (const [what, { statements, bytes }] of few) {
    const more = many.get(what);
    expect(more?.statements, `${what}: statements`).toBeLessThan(MOST * statements);
    expect(more?.bytes, `${what}: bytes of the trace`).toBeLessThan(MOST * bytes);
  }
});
