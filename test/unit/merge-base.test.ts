/** The base of a merge is the last common checkpoint, whichever session it is of, and no more timelines are read than it takes. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crissCross } from '../../core/checkpoint/merge/criss-cross.ts';
import { mergeBases, type Timelines, unreadTimelines } from '../../core/checkpoint/merge/merge-base.ts';
import type { CheckpointRef } from '../../core/checkpoint/model.ts';

type Node = Timelines extends ReadonlyMap<string, readonly (infer One)[]> ? One : never;

const createdAt = new Date(0).toISOString();
const nameOf = ({ sessionId, seq }: CheckpointRef) => `${sessionId}@${seq}`;

/** Sessions that grow by checkpoints, forks and merges of each other. */
const createHistory = () => {
  const timelines = new Map<string, Node[]>([['s', []]]);
  const head = (sessionId: string): CheckpointRef => ({
    sessionId,
    seq: timelines.get(sessionId)?.length ?? 0,
  });
  const nodeOf = (sessionId: string, seq: number): Node => ({
    seq,
    parentSeq: seq === 1 ? null : seq - 1,
    checkpointId: `${sessionId}-${seq}`,
    createdAt,
  });
  const add = (sessionId: string, more: Partial<Node> = {}): CheckpointRef => {
    const nodes = timelines.get(sessionId) ?? [];
    const seq = nodes.length + 1;
    timelines.set(sessionId, [...nodes, { ...nodeOf(sessionId, seq), ...more }]);
    return head(sessionId);
  };
  add('s');
  return {
    timelines,
    head,
    work: (sessionId: string) => add(sessionId),
    /** Each takes what the other has now. */
    exchange: (one: string, other: string) => {
      const [first, second] = [head(one), head(other)];
      add(one, { mergedFrom: second });
      add(other, { mergedFrom: first });
    },
    fork: (from: string, to: string) => add(to, { forkedFrom: head(from) }),
    merge: (from: string, into: string) => add(into, { mergedFrom: head(from) }),
    revert: (sessionId: string, seq: number) => add(sessionId, { takesBack: [seq] }),
  };
};

type History = ReturnType<typeof createHistory>;

const NAMES = ['s', 'a', 'b', 'c', 'd'];

/** Five sessions that work, merge each other and take things back. */
const histories = fc
  .array(fc.tuple(fc.constantFrom('work', 'merge', 'merge', 'exchange', 'revert'), fc.nat(4), fc.nat(4)), {
    maxLength: 30,
  })
  .map((steps) => {
    const history = createHistory();
    for (const [index, name] of NAMES.slice(1).entries()) history.fork(NAMES[index % 2] ?? 's', name);
    for (const [kind, at, other] of steps) {
      const [one = 's', two = 's'] = [NAMES[at], NAMES[other]];
      if (kind === 'work') history.work(one);
      else if (kind === 'revert') history.revert(one, Math.max(1, history.head(one).seq - other));
      else if (one === two) continue;
      else if (kind === 'exchange') history.exchange(one, two);
      else history.merge(one, two);
    }
    return history;
  });

/** Reads as a merge does. */
const look = ({ timelines, head }: History, into: string, from: string) => {
  const read = new Map<string, readonly Node[]>();
  let wanted = [into, from];
  while (wanted.length > 0) {
    for (const id of wanted) read.set(id, timelines.get(id) ?? []);
    wanted = unreadTimelines(read, head(into), head(from));
  }
  const bases = mergeBases(read, head(into), head(from));
  return { base: bases[0], bases, read: [...read.keys()].toSorted() };
};

/** The nearest common ancestors, by walking everything until no walk differs from the one before. */
const nearest = ({ timelines, head }: History, into: string, from: string): string[] => {
  const nodeOf = ({ sessionId, seq }: CheckpointRef) => timelines.get(sessionId)?.[seq - 1];
  const reaches = (
    start: CheckpointRef,
    off: ReadonlySet<string> = new Set(),
    found = new Map<string, CheckpointRef>(),
  ): Map<string, CheckpointRef> => {
    if (found.has(nameOf(start))) return found;
    found.set(nameOf(start), start);
    const { mergedFrom, forkedFrom } = nodeOf(start) ?? {};
    const before = start.seq > 1 ? { ...start, seq: start.seq - 1 } : undefined;
    for (const ref of [before, off.has(nameOf(start)) ? undefined : mergedFrom, forkedFrom]) {
      if (ref !== undefined) reaches(ref, off, found);
    }
    return found;
  };
  const allBehind = (start: CheckpointRef): Map<string, CheckpointRef> => {
    let off = new Set<string>();
    for (;;) {
      const found = reaches(start, off);
      const now = [...found.values()].flatMap((ref) =>
        off.has(nameOf(ref)) ? [] : (nodeOf(ref)?.takesBack ?? []).map((seq) => nameOf({ ...ref, seq })),
      );
      if (new Set(now).symmetricDifference(off).size === 0) return found;
      off = new Set(now);
    }
  };
  const ours = allBehind(head(into));
  const common = [...allBehind(head(from)).values()].filter((ref) => ours.has(nameOf(ref)));
  return common
    .filter((ref) => !common.some((one) => nameOf(one) !== nameOf(ref) && reaches(one).has(nameOf(ref))))
    .map(nameOf);
};

describe('the last common checkpoint', () => {
  test('is that of a fork that both have merged', () => {
    const history = createHistory();
    history.fork('s', 'x');
    history.fork('s', 'y');
    const merged = history.work('x');
    history.merge('x', 'y');
    history.merge('x', 's');
    history.work('s');
    history.work('y');
    expect(look(history, 's', 'y').base).toEqual(merged);
  });

  test('is found through a session that only one side has merged itself', () => {
    const history = createHistory();
    for (const name of ['x', 'y', 'z']) history.fork('s', name);
    const merged = history.work('x');
    history.merge('x', 'z');
    history.merge('z', 's');
    history.merge('x', 'y');
    history.work('y');
    expect(look(history, 's', 'y').base).toEqual(merged);
  });

  test('asks for no timeline of what was merged before a fork began', () => {
    const history = createHistory();
    for (let n = 1; n <= 20; n++) {
      history.fork('s', `early-${n}`);
      history.work(`early-${n}`);
      history.merge(`early-${n}`, 's');
    }
    history.fork('s', 'y');
    history.work('y');
    history.fork('s', 'late');
    history.work('late');
    history.merge('late', 's');
    expect(look(history, 's', 'y').read).toEqual(['late', 's', 'y']);
  });

  test('is the one before a merge that was taken back, until that is taken back too', () => {
    const history = createHistory();
    history.fork('s', 'x');
    const merged = history.work('x');
    const { seq } = history.merge('x', 's');
    history.work('s');
    const reverted = history.revert('s', seq);
    history.work('s');
    expect(look(history, 's', 'x').base).toEqual({ sessionId: 's', seq: 1 });
    // One that began while it was there still has it in common.
    history.fork('s', 'y');
    expect(look(history, 'y', 'x').base).toEqual({ sessionId: 's', seq: 1 });
    history.revert('s', reverted.seq);
    expect(look(history, 's', 'x').base).toEqual(merged);
  });

  test('is so too where a fork comes that began while the merge stood', () => {
    const history = createHistory();
    history.fork('s', 'x');
    history.work('x');
    const { seq } = history.merge('x', 's');
    history.fork('s', 'z');
    history.work('z');
    history.revert('s', seq);
    history.merge('z', 's');
    expect(look(history, 's', 'x').base).toEqual({ sessionId: 's', seq: 1 });
  });

  test('is so too in a fork that began while the merge stood, and to which the revert came', () => {
    const history = createHistory();
    history.fork('s', 'x');
    const merged = history.work('x');
    const { seq } = history.merge('x', 's');
    history.fork('s', 'y');
    const reverted = history.revert('s', seq);
    expect(look(history, 'y', 'x').base).toEqual(merged);
    const came = history.merge('s', 'y');
    expect(look(history, 'y', 'x').base).toEqual({ sessionId: 's', seq: 1 });
    // Taken back where it came, or where it was made, it is as if it had not been.
    history.revert('y', came.seq);
    expect(look(history, 'y', 'x').base).toEqual(merged);
    history.revert('s', reverted.seq);
    history.merge('s', 'y');
    expect(look(history, 'y', 'x').base).toEqual(merged);
  });

  test('is one of the nearest in any history, and of the target where that has one', () => {
    fc.assert(
      fc.property(histories, fc.nat(4), fc.nat(4), (history, intoAt, fromAt) => {
        const [into = 's', from = 's'] = [NAMES[intoAt], NAMES[fromAt]];
        fc.pre(into !== from);
        const { base, bases } = look(history, into, from);
        const wanted = nearest(history, into, from);
        expect(bases.map(nameOf).toSorted()).toEqual(wanted.toSorted());
        const ours = wanted.filter((name) => name.startsWith(`${into}@`));
        if (ours.length > 0) expect(ours).toContain(base && nameOf(base));
      }),
      { numRuns: 400 },
    );
  });
});

describe('several that are equally near', () => {
  /** What a merge answers, and the merge that it says to take back. */
  const refusal = ({ timelines, head }: History, into: string, from: string) => {
    const { message, details } = crissCross(timelines, head(into), head(from));
    const { checkpointId, sessionId } = details ?? {};
    return { message, named: checkpointId === undefined ? undefined : [sessionId, checkpointId].map(String) };
  };

  test('are refused, with the newest merge to take back: then there is one', () => {
    const history = createHistory();
    history.fork('s', 'x');
    history.work('s');
    const x = history.work('x');
    history.exchange('s', 'x');
    expect(look(history, 's', 'x').bases).toHaveLength(2);
    const { message, named } = refusal(history, 's', 'x');
    expect(named).toEqual(['x', 'x-3']);
    expect(message).toContain('walkback revert x-3 --session x');
    history.revert('x', 3);
    expect(look(history, 's', 'x').base).toEqual(x);
  });

  test('a merge that is named leaves one base when it is taken back, in any history', () => {
    const refused: (string[] | undefined)[] = [];
    fc.assert(
      fc.property(histories, fc.nat(4), fc.nat(4), (history, intoAt, fromAt) => {
        const [into = 's', from = 's'] = [NAMES[intoAt], NAMES[fromAt]];
        fc.pre(into !== from && look(history, into, from).bases.length > 1);
        const { named } = refusal(history, into, from);
        refused.push(named);
        if (named === undefined) return;
        const [sessionId = '', id = ''] = named;
        history.revert(sessionId, Number(id.split('-')[1]));
        expect(look(history, into, from).bases).toHaveLength(1);
      }),
      { numRuns: 200, maxSkipsPerRun: 1000 },
    );
    expect(refused.filter((one) => one !== undefined).length).toBeGreaterThan(100);
  });
});
