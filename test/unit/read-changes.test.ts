/** Which checkpoints `changes` reads: those that the tree says, though it reads the tree only for a long message. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createReadChanges } from '../../core/checkpoint/content/read-changes.ts';
import { pathTo } from '../../core/checkpoint/timeline/tree.ts';
import { checkpointId } from '../../core/shared/ids.ts';
import { createFakeStore } from '../support/fakes/fake-store.ts';
import { checkpointOf, sessionOf } from '../support/session-items.ts';

const idOf = (seq: number): string => checkpointId('s', seq, `t${seq}`);

/** Each checkpoint goes on from one before it, for a message that is new or known. */
const makeSession = async (steps: readonly { back: number; message: number }[]) => {
  const store = createFakeStore();
  const session = sessionOf('s');
  await store.createSession(session, checkpointOf('s', 1, { checkpointId: idOf(1) }));
  const firsts = new Map<string, number>();
  const nodes: { seq: number; parentSeq: number | null; messageId: string | null }[] = [
    { seq: 1, parentSeq: null, messageId: null },
  ];
  for (const [at, { back, message }] of steps.entries()) {
    const seq = at + 2;
    const messageId = `m${message}`;
    const parentSeq = Math.max(1, seq - 1 - back);
    const firstSeq = firsts.get(messageId) ?? seq;
    firsts.set(messageId, firstSeq);
    nodes.push({ seq, parentSeq, messageId });
    const written = await store.commitCheckpoint({
      session: { ...session, version: seq, seq, headSeq: seq },
      expectedVersion: seq - 1,
      checkpoint: checkpointOf('s', seq, {
        checkpointId: idOf(seq),
        parentSeq,
        messageId,
        messageOrder: message,
      }),
      message: { messageId, order: message, firstSeq, lastSeq: seq, lastId: idOf(seq) },
    });
    expect(written.written).toBe(true);
  }
  let trees = 0;
  const watched: typeof store = {
    ...store,
    listTree: (sessionId) => {
      trees += 1;
      return store.listTree(sessionId);
    },
  };
  const bundles = { get: () => Promise.reject(new Error('nothing is kept')) };
  const forget = (seq: number): void => {
    const { checkpoints } = store.tables;
    for (const [key, one] of checkpoints) if (one.seq === seq) checkpoints.delete(key);
  };
  return { nodes, firsts, read: createReadChanges({ store: watched, bundles }), trees: () => trees, forget };
};

const steps = fc.array(fc.record({ back: fc.constantFrom(0, 0, 0, 0, 1, 5), message: fc.nat({ max: 4 }) }), {
  minLength: 1,
  maxLength: 24,
});

test('of a message: those on the way to its last one, each beside its parent, whatever the tree looks like', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (made) => {
      const { nodes, firsts, read } = await makeSession(made);
      for (const messageId of firsts.keys()) {
        const last = nodes.findLast((node) => node.messageId === messageId)?.seq ?? 0;
        const wanted = pathTo(nodes, last).filter((seq) => nodes[seq - 1]?.messageId === messageId);
        const { checkpoints } = await read({ sessionId: 's', messageId });
        expect(checkpoints.map(({ seq }) => seq)).toEqual(wanted);
        expect(checkpoints.map((one) => one.parentCheckpointId)).toEqual(
          wanted.map((seq) => idOf(nodes[seq - 1]?.parentSeq ?? 0)),
        );
      }
    }),
    { numRuns: 60 },
  );
});

test('it goes on after each of them but the last, also when retention removed that one, and nowhere else', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (made) => {
      const { nodes, firsts, read, forget } = await makeSession(made);
      for (const messageId of firsts.keys()) {
        const last = nodes.findLast((node) => node.messageId === messageId)?.seq ?? 0;
        const wanted = pathTo(nodes, last).filter((seq) => nodes[seq - 1]?.messageId === messageId);
        for (let seq = 0; seq <= nodes.length + 1; seq++) {
          const page = read({ sessionId: 's', messageId, cursor: `after-${seq}` });
          if (wanted.slice(0, -1).includes(seq)) {
            expect((await page).checkpoints.map((one) => one.seq)).toEqual(wanted.filter((one) => one > seq));
          } else {
            await expect(page).rejects.toMatchObject({ name: 'InvalidInput' });
          }
        }
        const [place] = wanted;
        if (place === undefined || wanted.length === 1) continue;
        forget(place);
        const { checkpoints } = await read({ sessionId: 's', messageId, cursor: `after-${place}` });
        expect(checkpoints.map(({ seq }) => seq)).toEqual(wanted.slice(1));
        return;
      }
    }),
    { numRuns: 60 },
  );
});

test('the tree is read only for a message that spans many checkpoints', async () => {
  const { read, trees } = await makeSession([
    ...Array.from({ length: 20 }, () => ({ back: 0, message: 0 })),
    ...Array.from({ length: 3 }, () => ({ back: 0, message: 1 })),
  ]);
  expect((await read({ sessionId: 's', checkpointId: idOf(9) })).checkpoints).toHaveLength(1);
  expect((await read({ sessionId: 's', messageId: 'm1' })).checkpoints).toHaveLength(3);
  expect(trees()).toBe(0);
  expect((await read({ sessionId: 's', messageId: 'm0' })).checkpoints).toHaveLength(20);
  expect(trees()).toBe(1);
});
