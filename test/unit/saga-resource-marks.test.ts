/** What a saga and its children touched, as its parent records it: never too much for an entry, and nothing shared is missed. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { childEnd } from '../../core/saga/decide/decide-children.ts';
import { boundedMarks, mergedMarks, resourceMark, shareMark } from '../../core/saga/decide/resource-marks.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { MAX_CHILDREN, MAX_STEPS } from '../../core/saga/plan/plan-shape.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { seenChild } from '../../core/saga/prepare/prepare-children.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { chosenSeed } from '../support/sampling.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

/** 400 KB for an item, of which 100 actions of a transaction share 4 MB: one entry for each child at once. */
const ROOM = (4 * 1024 * 1024) / (MAX_CHILDREN + 1);

const touched = (keys: readonly string[], ms = 1) =>
  Object.fromEntries(keys.map((key) => [resourceMark(key), ms]));
const keysOf = (agent: number, count: number) => Array.from({ length: count }, (_, n) => `${agent}/${n}`);

/** A saga whose agents ended, each with as many resources as it may touch. */
const seen = async (agents: number) => {
  const entries = Array.from({ length: agents }, (_, agent) => ({
    direction: 'child',
    status: 'ended',
    child: { index: agent, resources: touched(keysOf(agent, MAX_STEPS), agent) },
  }));
  const parent = { sagaId: 'parent', seq: 1, hash: '' };
  const store = {
    getHead: async () => ({ seq: 9, tip: 'tip', parent, state: { status: 'COMPLETED', failure: null } }),
    listEntries: async () => entries,
  } as unknown as SagaStore & { head: SagaHead; entries: LedgerEntry[] };
  const named = { branch: 'b', sagaId: 'child', planHash: '', inputHash: '', stepCount: 1 };
  return seenChild(store, named, 'parent', 1);
};

describe('a saga whose agents touched many resources', () => {
  test.each([1, 13, MAX_CHILDREN])('%d of them: its end fits an entry', async (agents) => {
    expect(jsonBytes(childEnd(0, await seen(agents)))).toBeLessThan(ROOM);
  });

  test('each of them is found in it, with a time that is no earlier', async () => {
    const { resources = {} } = await seen(MAX_CHILDREN);
    for (let agent = 0; agent < MAX_CHILDREN; agent += 1) {
      expect(shareMark(touched(keysOf(agent, 1)), resources)).toBe(true);
      expect(shareMark(resources, touched(keysOf(agent, 1)))).toBe(true);
    }
    expect(Math.max(...Object.values(resources))).toBe(MAX_CHILDREN - 1);
  });
});

test('what shares a resource is found, whoever has many; what has few and shares none is told apart', () => {
  const size = fc.constantFrom(0, 1, 3, 999, 1000, 1001, 5000);
  fc.assert(
    fc.property(size, size, size, fc.boolean(), (mine, theirs, below, isShared) => {
      const shared = isShared ? ['shared'] : [];
      const one = boundedMarks(touched([...keysOf(1, mine), ...shared]));
      const other = boundedMarks(
        mergedMarks([boundedMarks(touched([...keysOf(2, theirs), ...shared])), touched(keysOf(3, below))]),
      );
      const isExact = mine + shared.length <= 1000 && theirs + below + shared.length <= 1000;
      if (isShared) expect(shareMark(one, other)).toBe(true);
      else if (isExact) expect(shareMark(one, other)).toBe(false);
      expect(shareMark(one, other)).toBe(shareMark(other, one));
    }),
    { seed: SEED, numRuns: 60 },
  );
});

test('an effect without a resource shares it with nothing', () => {
  expect(shareMark({ [resourceMark(null)]: 0 }, touched(['a']))).toBe(false);
  expect(shareMark(touched(['a']), { [resourceMark(null)]: 0 })).toBe(false);
});
