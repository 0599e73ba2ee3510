/** Four ways to run the refund, as people write them. Each answers how it ended and what it reported as left over. */

import { randomUUID } from 'node:crypto';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import { type ExpressionScope, resolveArguments } from '../../core/saga/plan/expressions.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import { observe } from '../../core/saga/view/observation.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { Crash, sagaMachine } from '../../kit/testing/saga-machine.ts';
import { endingAfter } from '../../test/support/tool-functions.ts';
import { type BenchWorld, ProcessDied } from './world.ts';

export interface Ended {
  how: 'completed' | 'compensated' | 'abandoned' | 'human';
  /** Effects a person was told of. */
  reported: number;
  /** Calls of tools. */
  calls: number;
  transitions: number;
}

const STEPS: readonly PlanStep[] = refundDefinitions[0]?.plan.steps ?? [];
const INPUT = { orderId: 'o' };
const MAX_TURNS = 3;
const MAX_ATTEMPTS = 3;

interface Done {
  step: PlanStep;
  request: ToolRequest;
}

const evaluate = createEvaluator();

/** One pass over the steps. `onDone` hears of every success. */
const pass = async (
  world: BenchWorld,
  keyOf: (step: PlanStep) => string,
  attempts: number,
  onCall: () => void,
  onDone: (done: Done) => void,
): Promise<boolean> => {
  const scope: ExpressionScope = { input: INPUT, steps: {} };
  const versions = new Map(
    refundManifests(world.services, 'tools').map(({ name, version }) => [name, version]),
  );
  for (const step of STEPS) {
    if (!('tool' in step)) throw new TypeError(`step ${step.id} calls no tool`);
    const request: ToolRequest = {
      operation: 'execute',
      tool: step.tool,
      version: versions.get(step.tool) ?? '',
      sagaId: 'bench',
      step: step.id,
      attempt: 1,
      idempotencyKey: keyOf(step),
      forwardKey: keyOf(step),
      deadlineMs: world.clock.nowMs() + 30_000,
      arguments: await resolveArguments(step.arguments, scope, evaluate),
    };
    let done = false;
    for (let attempt = 1; attempt <= attempts && !done; attempt += 1) {
      onCall();
      const outcome = await world.call(request);
      if (outcome.outcome !== 'committed') continue;
      done = true;
      scope.steps[step.id] = { result: outcome.result, externalRef: outcome.externalRef ?? null };
      onDone({ step, request });
    }
    if (!done) return false;
  }
  return true;
};

const isDeath = (error: unknown): true => {
  if (error instanceof ProcessDied) return true;
  throw error;
};

/** The agent's turn is run again from the start, every call with a key of its own. */
export const blindRetry = async (world: BenchWorld): Promise<Ended> => {
  let calls = 0;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    try {
      const done = await pass(
        world,
        () => randomUUID(),
        1,
        () => (calls += 1),
        () => undefined,
      );
      if (done) return { how: 'completed', reported: 0, calls, transitions: 0 };
    } catch (error) {
      isDeath(error);
    }
  }
  return { how: 'abandoned', reported: 0, calls, transitions: 0 };
};

/** A durable workflow with stable keys and retries that only goes forward. */
export const forwardOnly = async (world: BenchWorld): Promise<Ended> => {
  let calls = 0;
  for (let life = 0; life < MAX_TURNS; life += 1) {
    try {
      const done = await pass(
        world,
        ({ id }) => `bench:${id}`,
        MAX_ATTEMPTS,
        () => (calls += 1),
        () => undefined,
      );
      return { how: done ? 'completed' : 'abandoned', reported: 0, calls, transitions: 0 };
    } catch (error) {
      isDeath(error);
    }
  }
  return { how: 'abandoned', reported: 0, calls, transitions: 0 };
};

/** Compensators pushed on a list after each success, in memory; walked back once, failures logged and forgotten. */
export const naiveSaga = async (world: BenchWorld): Promise<Ended> => {
  let calls = 0;
  const stack: Done[] = [];
  try {
    const done = await pass(
      world,
      ({ id }) => `bench:${id}`,
      1,
      () => (calls += 1),
      (one) => stack.push(one),
    );
    if (done) return { how: 'completed', reported: 0, calls, transitions: 0 };
    for (const { step, request } of stack.toReversed()) {
      if (step.id === 'verify') continue;
      calls += 1;
      await world.call({ ...request, operation: 'compensate', idempotencyKey: `${request.forwardKey}:undo` });
    }
    return { how: 'compensated', reported: 0, calls, transitions: 0 };
  } catch (error) {
    isDeath(error);
    return { how: 'abandoned', reported: 0, calls, transitions: 0 };
  }
};

const ENDS = { COMPLETED: 'completed', COMPENSATED: 'compensated', COMPENSATION_FAILED: 'human' } as const;

export const walkback = async (world: BenchWorld): Promise<Ended> => {
  const memory = memorySagaStore();
  const { store } = memory;
  await createPutCatalog({ store, functions: endingAfter(32) })({
    tools: refundManifests(world.services, 'tools'),
    definitions: refundDefinitions,
  });
  const machine = sagaMachine({
    evaluate,
    store,
    clock: world.clock,
    invoke: async (_, payload) => {
      try {
        return { Payload: await world.call(payload) };
      } catch (error) {
        isDeath(error);
        throw new Crash('the process died');
      }
    },
  });
  await machine.start({
    sagaId: 'bench',
    definition: { name: 'refund' },
    input: INPUT,
    requestedBy: 'bench',
  });
  await machine.settle();
  const head = memory.heads.get('bench');
  if (head === undefined) throw new Error('the saga was not started');
  const { status, notCompensated } = observe(head, await store.listEntries('bench'));
  if (status !== 'COMPLETED' && status !== 'COMPENSATED' && status !== 'COMPENSATION_FAILED') {
    throw new Error(`the saga ended as ${status}`);
  }
  const { invocations, transitions } = machine.counts;
  return { how: ENDS[status], reported: notCompensated.length, calls: invocations, transitions };
};
