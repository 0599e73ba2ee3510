/**
 * What was pinned when a saga started: steps in chunks, and the input. Each part is checked against the hash
 * by which it is found.
 */
import { LRUCache } from 'lru-cache';
import type { Json } from '../../../contract/json.ts';
import type { PinnedStep } from '../../../core/saga/model/plan.ts';
import { isPinnedChunk, STEPS_PER_CHUNK } from '../../../core/saga/plan/pinned-steps.ts';
import type { SagaStore } from '../../../core/saga/ports.ts';
import { hashJson } from '../../../core/shared/canonical-json.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import type { Table } from '../table.ts';
import type { Key } from '../table-reads.ts';
import { inputKey, readChunk, readInput, stepItems, stepsKey } from './saga-items.ts';

/**
 * Characters of JSON text that one process keeps. An `Advance` reads the same chunk for the step that ended
 * and for the next one.
 */
const CACHED_CHARACTERS = 4 * 1024 * 1024;

const missing = (sagaId: string): WalkbackError =>
  new WalkbackError('InternalError', `What was pinned for saga ${sagaId} is gone.`, { details: { sagaId } });

/** The pinned parts are outside the ledger's chain. Only their hashes tie them to it. */
const altered = (sagaId: string): WalkbackError =>
  new WalkbackError('LedgerBroken', `What was pinned for saga ${sagaId} is not what was pinned.`, {
    details: { sagaId },
  });

const pinnedInput = (sagaId: string, inputHash: string, input: Json) => ({
  ...inputKey(sagaId, inputHash),
  input: JSON.stringify(input),
});

/**
 * What was read once and matched its hash can never change, so it is kept. The text is kept, not the value,
 * so that each reader gets a value of its own.
 */
const createProven = () => {
  const cache = new LRUCache<string, string>({
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: (text) => text.length + 1,
  });
  return async <Value>({ pk, sk }: Key, prove: () => Promise<Value>): Promise<Value> => {
    const key = `${pk} ${sk}`;
    const known = cache.get(key);
    if (known !== undefined) return JSON.parse(known);
    const value = await prove();
    cache.set(key, JSON.stringify(value));
    return value;
  };
};

type PinnedMethods = Pick<SagaStore, 'putPinned' | 'putInput' | 'getPinnedInput' | 'getPinnedStep'>;

export const pinnedMethods = (sagas: Table): PinnedMethods => {
  const proven = createProven();
  const chunkAt = (sagaId: string, planHash: string, position: number): Promise<readonly PinnedStep[]> => {
    const key = stepsKey(sagaId, planHash, position);
    return proven(key, async () => {
      const item = await sagas.get(key);
      if (item === undefined) throw missing(sagaId);
      const chunk = readChunk(item);
      if (!isPinnedChunk(planHash, position, chunk)) throw altered(sagaId);
      return chunk.steps;
    });
  };
  return {
    putPinned: async ({ sagaId, planHash, inputHash, input, steps, plans = [] }) => {
      const plan = stepItems(sagaId, planHash, steps);
      const children = plans.flatMap((one) => stepItems(sagaId, one.planHash, one.steps));
      // The service refuses a batch that has the same item twice.
      const items = new Map([...plan, ...children].map((item) => [item.sk, item]));
      await sagas.putAll([pinnedInput(sagaId, inputHash, input), ...items.values()]);
    },
    putInput: async (sagaId, inputHash, input) => {
      await sagas.put(pinnedInput(sagaId, inputHash, input));
    },
    getPinnedInput: (sagaId, inputHash): Promise<Json> => {
      const key = inputKey(sagaId, inputHash);
      return proven(key, async () => {
        const item = await sagas.get(key);
        if (item === undefined) throw missing(sagaId);
        const input = readInput(item);
        if (hashJson(input) !== inputHash) throw altered(sagaId);
        return input;
      });
    },
    getPinnedStep: async (sagaId, planHash, index) => {
      const steps = await chunkAt(sagaId, planHash, Math.floor(index / STEPS_PER_CHUNK));
      const step = steps[index % STEPS_PER_CHUNK];
      if (step === undefined) throw missing(sagaId);
      return step;
    },
  };
};
