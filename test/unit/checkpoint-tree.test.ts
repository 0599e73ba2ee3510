import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TreeNode } from '../../core/checkpoint/ports/stores.ts';
import {
  discardedBetween,
  messagesOn,
  nearestIds,
  newestRestorable,
  pathTo,
} from '../../core/checkpoint/timeline/tree.ts';

const node = (seq: number, parentSeq: number | null, message: number | null, complete = true): TreeNode => ({
  seq,
  parentSeq,
  messageId: message === null ? null : `m${message}`,
  messageOrder: message,
  checkpointId: `cp-${seq}`,
  reason: 'before-tool',
  complete,
  detached: false,
  createdAt: '2026-01-01T00:00:00.000Z',
});

/** Trees as a session makes them: every parent is older than its child. */
const trees = fc
  .array(fc.record({ parent: fc.nat(), message: fc.integer({ min: 1, max: 6 }) }), { maxLength: 40 })
  .map((drafts) => [
    node(1, null, null),
    ...drafts.map(({ parent, message }, index) => node(index + 2, (parent % (index + 1)) + 1, message)),
  ]);

const treeWithTwo = trees.chain((tree) =>
  fc.tuple(fc.constant(tree), fc.nat(tree.length - 1), fc.nat(tree.length - 1)),
);

describe('the timeline', () => {
  test('a path goes from the root to the checkpoint, each the parent of the next', () => {
    fc.assert(
      fc.property(treeWithTwo, ([tree, index]) => {
        const path = pathTo(tree, index + 1);
        expect(path[0]).toBe(1);
        expect(path.at(-1)).toBe(index + 1);
        for (const [at, seq] of path.entries()) {
          expect(tree[seq - 1]?.parentSeq).toBe(at === 0 ? null : path[at - 1]);
        }
      }),
    );
  });

  test('going back and forth between two checkpoints discards and brings back the same messages', () => {
    fc.assert(
      fc.property(treeWithTwo, ([tree, a, b]) => {
        const [from, to] = [a + 1, b + 1];
        const left = discardedBetween(tree, from, to);
        const kept = messagesOn(tree, from).filter((id) => !left.includes(id));
        // What is kept is on both paths, what is discarded only on the first.
        expect(kept.every((id) => messagesOn(tree, to).includes(id))).toBe(true);
        expect(left.some((id) => messagesOn(tree, to).includes(id))).toBe(false);
        expect(discardedBetween(tree, from, from)).toEqual([]);
      }),
    );
  });

  test('messages come in the order in which the session saw them', () => {
    const tree = [node(1, null, null), node(2, 1, 2), node(3, 2, 1), node(4, 3, 2)];
    expect(messagesOn(tree, 4)).toEqual(['m1', 'm2']);
  });

  test('a message with work on both sides is not discarded', () => {
    const tree = [node(1, null, null), node(2, 1, 1), node(3, 2, 1), node(4, 3, 2)];
    expect(discardedBetween(tree, 4, 2)).toEqual(['m2']);
  });

  test('parents removed by retention end the path', () => {
    expect(pathTo([node(7, 6, 1), node(8, 7, 2)], 8)).toEqual([7, 8]);
    expect(pathTo([], 3)).toEqual([]);
  });

  test('a damaged table with a cycle does not hang', () => {
    expect(pathTo([node(1, 2, 1), node(2, 1, 1)], 2)).toEqual([1, 2]);
  });

  test('the newest restorable checkpoint is the newest complete one on the path', () => {
    const tree = [node(1, null, null), node(2, 1, 1), node(3, 1, 2), node(4, 2, 3, false)];
    expect(newestRestorable(tree, 4)?.seq).toBe(2);
    expect(newestRestorable([node(1, null, null, false)], 1)).toBeUndefined();
  });

  test('nearest ids are those that begin alike, then the newest', () => {
    const known = ['msg-1', 'msg-2', 'msg-31', 'other', 'msg-4', 'msg-5'];
    expect(nearestIds(known, 'msg-3')).toEqual(['msg-31', 'msg-5', 'msg-4', 'msg-2', 'msg-1']);
  });
});
