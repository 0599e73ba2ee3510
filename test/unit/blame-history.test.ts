/** The history that a blame runs in: what a point came from, and the states of one repository on the way. */
import { describe, expect, test } from 'vitest';
import { ancestryOf } from '../../core/checkpoint/blame/ancestry.ts';
import { linesThatFit, originsThatFit } from '../../core/checkpoint/blame/answer-room.ts';
import { candidatesFor } from '../../core/checkpoint/blame/candidates.ts';
import { historyNodes, type Step } from '../../core/checkpoint/blame/history.ts';
import type { RepositoryState } from '../../core/checkpoint/model.ts';
import type { TreeNode } from '../../core/checkpoint/ports/stores.ts';

const node = (seq: number, parentSeq: number | null, more: Partial<TreeNode> = {}): TreeNode => ({
  seq,
  parentSeq,
  checkpointId: `cp-${seq}`,
  messageId: 'm',
  messageOrder: 1,
  reason: 'before-tool',
  complete: true,
  detached: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});

const timelinesOf = (sessions: Record<string, TreeNode[]>) =>
  new Map(
    Object.entries(sessions).map(([id, nodes]) => [id, new Map(nodes.map((one) => [one.seq, one]))] as const),
  );

const ancestry = (sessions: Record<string, TreeNode[]>, sessionId: string, seq: number) => {
  const { ancestors, unread } = ancestryOf(timelinesOf(sessions), { sessionId, seq });
  return {
    unread,
    told: ancestors.map(({ name, origins, begins }) =>
      [name, origins.join(','), begins].filter((part) => part !== undefined && part !== '').join(' < '),
    ),
  };
};

describe('what a checkpoint came from', () => {
  test('is the way of its parents; what a rollback left behind is not on it', () => {
    const line = [node(1, null), node(2, 1), node(3, 2), node(4, 3, { reason: 'rollback' }), node(5, 2)];
    expect(ancestry({ s: line }, 's', 5).told).toEqual(['s 1 < session', 's 2 < s 1', 's 5 < s 2']);
  });

  test('goes on in the source of a fork, and in what a merge took, each after its origins', () => {
    const sessions = {
      s: [node(1, null), node(2, 1), node(3, 2, { mergedFrom: { sessionId: 'f', seq: 2 } })],
      f: [node(1, null, { forkedFrom: { sessionId: 's', seq: 1 } }), node(2, 1)],
    };
    expect(ancestry(sessions, 's', 3).told).toEqual([
      's 1 < session',
      'f 1 < s 1',
      'f 2 < f 1',
      's 2 < s 1',
      's 3 < s 2,f 2',
    ]);
    expect(ancestry({ s: sessions.s }, 's', 3).unread).toBe('f');
  });

  test('begins where retention removed what was before, where a source is gone, and where its id was used again', () => {
    expect(ancestry({ s: [node(2, 1), node(3, 2)] }, 's', 3).told).toEqual(['s 2 < kept', 's 3 < s 2']);
    const fork = node(1, null, { forkedFrom: { sessionId: 'x', seq: 4 } });
    expect(ancestry({ f: [fork], x: [] }, 'f', 1).told).toEqual(['f 1 < kept']);
    const younger = node(4, null, { createdAt: '2026-01-01T02:00:00.000Z' });
    expect(ancestry({ f: [fork], x: [younger] }, 'f', 1).told).toEqual(['f 1 < kept']);
  });

  test('ends in a damaged table, too', () => {
    expect(ancestry({ s: [node(1, 2), node(2, 1)] }, 's', 2).told).toEqual(['s 1 < kept', 's 2 < s 1']);
  });
});

const captured = (tree: string, more: Partial<RepositoryState> = {}): RepositoryState => ({
  path: 'api',
  state: 'captured',
  changed: true,
  bundleBytes: 0,
  commit: 'c',
  tree,
  meta: 'm',
  ...more,
});
const absent = {
  path: 'api',
  state: 'absent',
  changed: true,
  bundleBytes: 0,
  tree: 'old',
} as RepositoryState;
const failed = { path: 'api', state: 'failed', changed: false, bundleBytes: 0 } as RepositoryState;

/** Steps as `name: origins`, states by name. */
const nodesOf = (
  steps: Record<string, string>,
  states: Record<string, RepositoryState | null | undefined>,
) => {
  const list = Object.entries(steps).map(
    ([name, origins], at): Step => ({
      name,
      origins: origins === '' ? [] : origins.split(' '),
      ...(at === 0 && { begins: 'session' }),
    }),
  );
  return historyNodes(list, (name) => states[name]).map(
    ({ step, tree, parents, commit, isFirstCapture }) =>
      `${step}=${tree}${parents.map((one) => ` ${one}`).join('')}${commit === undefined ? '' : ` on ${commit}`}${isFirstCapture === true ? ' first' : ''}`,
  );
};

describe('the states of a repository', () => {
  test('are those that changed it, and the first stands on the commit of HEAD', () => {
    const states = {
      a: captured('t1', { head: 'h' }),
      b: captured('t1'),
      c: captured('t2'),
      d: captured('t1'),
    };
    expect(nodesOf({ a: '', b: 'a', c: 'b', d: 'c' }, states)).toEqual(['a=t1 on h', 'c=t2 0', 'd=t1 1']);
  });

  test('are those that the end stands on, in a merge with both parents', () => {
    const states = { a: captured('t1'), b: captured('t2'), f: captured('t3'), m: captured('t4') };
    expect(nodesOf({ a: '', b: 'a', f: 'a', m: 'b f' }, states)).toEqual([
      'a=t1',
      'b=t2 0',
      'f=t3 0',
      'm=t4 1 2',
    ]);
    // A merge that brought nothing here is its first parent.
    expect(nodesOf({ a: '', b: 'a', f: 'a', m: 'b f' }, { ...states, m: captured('t2') })).toEqual([
      'a=t1',
      'b=t2 0',
    ]);
  });

  test('of a repository that went and came again begin again', () => {
    const states = { a: captured('t1'), b: absent, c: captured('t1') };
    expect(nodesOf({ a: '', b: 'a', c: 'b' }, states)).toEqual(['a=t1', 'b=null 0', 'c=t1 1']);
    expect(nodesOf({ a: '', b: 'a', c: 'b' }, { ...states, b: null })).toEqual([
      'a=t1',
      'b=null 0',
      'c=t1 1',
    ]);
    expect(nodesOf({ a: '', b: 'a' }, { a: captured('t1'), b: absent })).toEqual([]);
  });

  test('of a repository that came in the session begin there, on nothing', () => {
    expect(nodesOf({ a: '', b: 'a' }, { a: null, b: captured('t1', { head: 'h' }) })).toEqual(['b=t1']);
  });

  test('that could not be captured are those before; where there were none, that is told', () => {
    const late = { a: failed, b: failed, c: captured('t1', { head: 'h' }) };
    expect(nodesOf({ a: '', b: 'a', c: 'b' }, late)).toEqual(['c=t1 on h first']);
    expect(nodesOf({ a: '', b: 'a', c: 'b' }, { a: captured('t1'), b: failed, c: captured('t2') })).toEqual([
      'a=t1',
      'c=t2 0',
    ]);
    expect(nodesOf({ a: '', b: 'a' }, { a: captured('t1'), b: failed })).toEqual(['a=t1']);
  });

  test('of a step that expired meanwhile are those before it', () => {
    expect(
      nodesOf({ a: '', b: 'a', c: 'b' }, { a: captured('t1'), b: undefined, c: captured('t2') }),
    ).toEqual(['a=t1', 'c=t2 0']);
  });

  test('with ids of another kind have nothing in common with those before', () => {
    const states = { a: captured('a'.repeat(40), { head: 'h' }), b: captured('b'.repeat(64)) };
    expect(nodesOf({ a: '', b: 'a' }, states)).toEqual([`b=${'b'.repeat(64)}`]);
  });
});

test('the innermost repository is the one that a path names', () => {
  const states = ['.', 'api', 'api/sub'].map((path) => captured('t', { path }));
  expect(candidatesFor({ path: 'api/sub/a' }, states).named).toEqual({ repository: 'api/sub', file: 'a' });
  expect(candidatesFor({ path: 'apis/a' }, states).named).toEqual({ repository: '.', file: 'apis/a' });
  expect(candidatesFor({ path: 'a/', repository: 'api/' }, states).named).toEqual({
    repository: 'api',
    file: 'a',
  });
  expect(candidatesFor({ path: 'a' }, states.slice(1))).toEqual({
    others: [
      { repository: 'api', file: 'a' },
      { repository: 'api/sub', file: 'a' },
    ],
  });
  expect(() => candidatesFor({ path: 'a', repository: 'none' }, states)).toThrow('no repository "none"');
});

test('an answer holds no more than it has room for, in whole characters', () => {
  const lines = linesThatFit(
    Array.from({ length: 2_000 }, () => ({ text: '\u{1f600}'.repeat(1_500), source: 0, lineThere: 1 })),
    1,
  );
  expect(JSON.stringify(lines).length).toBeLessThanOrEqual(1024 ** 2);
  expect(lines.length).toBeGreaterThan(100);
  expect(lines[0]?.text).toBe('\u{1f600}'.repeat(1_000));
  expect(lines[0]?.isCut).toBe(true);
  const origin = { kind: 'now' as const, messageId: 'x'.repeat(1024 ** 2) };
  expect(originsThatFit([origin, origin, origin])).toHaveLength(1);
});
