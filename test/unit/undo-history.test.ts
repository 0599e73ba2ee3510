import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HistoryPoint, undoHistory } from '../../core/checkpoint/timeline/undo-history.ts';
import { rollbackToolId } from '../../core/shared/ids.ts';

/** A timeline as the functions write it: a rollback captures what is there, then the head is at its target. */
const createTimeline = () => {
  const points: HistoryPoint[] = [
    { seq: 1, parentSeq: null, reason: 'start', detached: false, toolExecutionId: 'baseline' },
  ];
  let headSeq = 1;
  const add = (reason: string, more: Partial<HistoryPoint> = {}): number => {
    const seq = points.length + 1;
    points.push({
      seq,
      parentSeq: headSeq,
      reason,
      detached: false,
      toolExecutionId: rollbackToolId(`r${seq}`, 1),
      ...more,
    });
    return seq;
  };
  return {
    named: (reason: string) => (headSeq = add(reason)),
    work: () => (headSeq = add('before-tool')),
    /** `broken`: so often it broke off, and was finished by the same request. */
    rollback: (to: number, broken = 0) => {
      const request = `r${points.length + 1}`;
      for (let n = 1; n <= broken + 1; n += 1) {
        headSeq = add('rollback', { toolExecutionId: rollbackToolId(request, n) });
      }
      headSeq = to;
    },
    /** It broke off, and was put back by the same request. */
    brokenRollback: () => {
      const request = `r${points.length + 1}`;
      headSeq = add('rollback', { toolExecutionId: rollbackToolId(request, 1) });
      headSeq = add('rollback', { toolExecutionId: rollbackToolId(request, 2) });
    },
    /** It broke off, and was put back to the first capture, by the same request or by another call. */
    brokenAndPutBack: () => {
      const request = `r${points.length + 1}`;
      const first = add('rollback', { toolExecutionId: rollbackToolId(request, 1) });
      headSeq = first;
      add('rollback', { toolExecutionId: rollbackToolId(request, 2) });
      headSeq = first;
    },
    compose: (reason: string) => {
      headSeq = add('rollback');
      headSeq = add(reason);
    },
    failedCompose: (reason: string) => {
      headSeq = add('rollback');
      add(reason);
    },
    failedRollback: () => (headSeq = add('rollback')),
    inCopy: () => add('rollback', { detached: true }),
    late: () => add('late-writes'),
    history: () => undoHistory(points.toReversed(), headSeq),
    seqs: () => points.map(({ seq }) => seq),
  };
};

test('nothing was rolled back: nothing to undo, nothing to redo', () => {
  const timeline = createTimeline();
  timeline.work();
  expect(timeline.history()).toEqual({ undo: undefined, redo: undefined });
});

test('undo leads to what was there before the rollback, redo to what was there before the undo', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.rollback(1);
  expect(timeline.history()).toEqual({ undo: 3, redo: undefined });
  timeline.rollback(3);
  expect(timeline.history()).toEqual({ undo: undefined, redo: 4 });
  timeline.rollback(4);
  expect(timeline.history()).toEqual({ undo: 5, redo: undefined });
});

test('two rollbacks are undone one after the other, and made again in their order', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.work();
  timeline.rollback(2);
  timeline.rollback(1);
  expect(timeline.history()).toEqual({ undo: 5, redo: undefined });
  timeline.rollback(5);
  expect(timeline.history()).toEqual({ undo: 4, redo: 6 });
  timeline.rollback(4);
  expect(timeline.history()).toEqual({ undo: undefined, redo: 7 });
  timeline.rollback(7);
  expect(timeline.history()).toEqual({ undo: 8, redo: 6 });
});

test('a rollback that broke off and was finished is undone to what was there before it began', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.rollback(1, 2);
  expect(timeline.history()).toEqual({ undo: 3, redo: undefined });
  timeline.rollback(3, 1);
  expect(timeline.history()).toEqual({ undo: undefined, redo: 6 });
  timeline.brokenRollback();
  expect(timeline.history()).toEqual({ undo: undefined, redo: 6 });
  timeline.brokenAndPutBack();
  expect(timeline.history()).toEqual({ undo: undefined, redo: 6 });
});

test('new work ends the redoing, and leaves the undoing', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.rollback(1);
  timeline.rollback(3);
  timeline.work();
  expect(timeline.history()).toEqual({ undo: undefined, redo: undefined });
  timeline.rollback(1);
  timeline.work();
  expect(timeline.history().undo).toBe(6);
});

test('what failed, what was kept beside and what happened in a review copy is no rollback', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.failedRollback();
  timeline.inCopy();
  expect(timeline.history()).toEqual({ undo: undefined, redo: undefined });
  timeline.rollback(1);
  timeline.late();
  timeline.inCopy();
  expect(timeline.history()).toEqual({ undo: 5, redo: undefined });
});

test.each(['merge', 'revert', 'partial-rollback'])(
  'a %s is undone and made again as a rollback is; one that failed is nothing',
  (reason) => {
    const timeline = createTimeline();
    timeline.work();
    timeline.compose(reason);
    expect(timeline.history()).toEqual({ undo: 3, redo: undefined });
    timeline.rollback(3);
    expect(timeline.history()).toEqual({ undo: undefined, redo: 5 });
    timeline.rollback(5);
    expect(timeline.history()).toEqual({ undo: 6, redo: undefined });
    timeline.failedCompose(reason);
    timeline.work();
    expect(timeline.history()).toEqual({ undo: 6, redo: undefined });
  },
);

test('a checkpoint that somebody calls a merge is work', () => {
  const timeline = createTimeline();
  timeline.work();
  timeline.rollback(1);
  timeline.rollback(3);
  timeline.named('merge');
  expect(timeline.history()).toEqual({ undo: undefined, redo: undefined });
});

test('as an editor: any row of undos and redos is that of two stacks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('work', 'rollback', 'compose', 'undo', 'redo')),
      fc.nat(),
      (acts, pick) => {
        const timeline = createTimeline();
        let undoable = 0;
        let redoable = 0;
        for (const act of acts) {
          const { undo, redo } = timeline.history();
          expect([undo !== undefined, redo !== undefined]).toEqual([undoable > 0, redoable > 0]);
          if (act === 'work') {
            timeline.work();
            redoable = 0;
          } else if (act === 'compose') {
            timeline.compose('merge');
            undoable += 1;
            redoable = 0;
          } else if (act === 'undo' && undo !== undefined) {
            timeline.rollback(undo, pick % 3);
            undoable -= 1;
            redoable += 1;
          } else if (act === 'redo' && redo !== undefined) {
            timeline.rollback(redo, pick % 2);
            undoable += 1;
            redoable -= 1;
          } else if (act === 'rollback') {
            const others = timeline.seqs().filter((seq) => seq !== undo && seq !== redo);
            timeline.rollback(others[pick % others.length] ?? 1, pick % 3);
            undoable += 1;
            redoable = 0;
          }
        }
      },
    ),
  );
});
