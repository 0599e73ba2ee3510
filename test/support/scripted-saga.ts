/** Sagas of a few made-up tools whose answers a test writes: for what the refund example cannot show. */

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { differingHeadFields } from '../../core/saga/entries/check-head.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { AskedPolicy } from '../../core/saga/model/interactive.ts';
import type { PlanStep } from '../../core/saga/model/plan.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import type { Invoked, SagaStore, SessionFence } from '../../core/saga/ports.ts';
import { observe } from '../../core/saga/view/observation.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { type MachineOptions, sagaMachine } from '../../kit/testing/saga-machine.ts';
import { type VirtualClock, virtualClock } from '../../kit/testing/virtual-clock.ts';

/** As deployed: in a process of its own, one for all machines of a file. */
const evaluate = createEvaluator();

export const SAGA = 'scripted';
export const RETRY = { maxAttempts: 3, backoffSeconds: 1, backoffRate: 2, maxBackoffSeconds: 10 };

export const scriptedTool = (
  name: string,
  effect: ToolManifest['effect'],
  more: Partial<ToolManifest> = {},
): ToolManifest => ({
  name,
  version: '1',
  description: '',
  effect,
  functionName: 'fn',
  timeoutSeconds: 10,
  retry: RETRY,
  idempotencyWindowSeconds: 3600,
  replaysErrors: false,
  probe: false,
  schemas: { input: {}, output: {}, compensation: {} },
  ...(effect === 'compensatable' || effect === 'partial'
    ? { compensation: { name: `undo_${name}`, timeoutSeconds: 10, retry: RETRY } }
    : {}),
  ...more,
});

export const committed = (result: unknown = {}): Invoked => ({ Payload: { outcome: 'committed', result } });
export const rejected = (retryable = false): Invoked => ({
  Payload: { outcome: 'rejected', retryable, error: { name: 'Refused', message: 'no' } },
});
export const lost: Invoked = { Error: 'States.Timeout', Cause: '' };

export interface ScriptedSagaOptions
  extends Pick<
    MachineOptions,
    'replay' | 'onAwait' | 'checkEpoch' | 'projectOf' | 'saveFiles' | 'engineThrough' | 'onAlert'
  > {
  tools: ToolManifest[];
  /** One step per tool unless given. */
  steps?: PlanStep[];
  answer: (request: ToolRequest, clock: VirtualClock) => Invoked | Promise<Invoked>;
  storing?: (store: SagaStore) => SagaStore;
  /** Whether a session is in this epoch when a transaction is written. */
  inEpoch?: (fence: SessionFence) => boolean;
}

export const scriptedSaga = async (options: ScriptedSagaOptions) => {
  const { tools, replay, onAwait, inEpoch, checkEpoch, projectOf, saveFiles, engineThrough, onAlert } =
    options;
  const clock = virtualClock();
  const memory = memorySagaStore(inEpoch === undefined ? {} : { inEpoch });
  const store = options.storing?.(memory.store) ?? memory.store;
  const requests: ToolRequest[] = [];
  for (const tool of tools) await memory.store.putTool(tool);
  const machine = sagaMachine({
    evaluate,
    store,
    clock,
    invoke: async (_, request) => {
      requests.push(request);
      return options.answer(request, clock);
    },
    ...(replay === undefined ? {} : { replay }),
    ...(onAwait === undefined ? {} : { onAwait }),
    ...(checkEpoch === undefined ? {} : { checkEpoch }),
    ...(projectOf === undefined ? {} : { projectOf }),
    ...(saveFiles === undefined ? {} : { saveFiles }),
    ...(engineThrough === undefined ? {} : { engineThrough }),
    ...(onAlert === undefined ? {} : { onAlert }),
  });
  const steps = options.steps ?? tools.map(({ name }) => ({ id: name, tool: name, arguments: {} }));
  const beginInteractive = (interactive: AskedPolicy = { onIdle: 'unwind' }) =>
    machine.start({ sagaId: SAGA, interactive, requestedBy: 'me' });
  const begin = () => machine.start({ sagaId: SAGA, plan: { steps }, input: {}, requestedBy: 'me' });
  /** Begins, and goes as far as it comes by itself. */
  const run = async (): Promise<void> => {
    await begin();
    await machine.settle();
  };
  const seen = async () => {
    const head = await memory.store.getHead(SAGA);
    if (head === undefined) throw new Error('the saga was not started');
    const entries = await memory.store.listEntries(SAGA);
    return {
      head,
      entries,
      state: head.state,
      story: entries.map(({ direction, status }) => `${direction} ${status}`),
      observation: observe(head, entries),
      isSound:
        findChainBreak(entries, head) === undefined &&
        isDeepStrictEqual(fold(entries), head.state) &&
        differingHeadFields(head, entries).length === 0,
    };
  };
  /** The same, of a saga whose ledger holds. */
  const sound = async () => {
    const { isSound, ...rest } = await seen();
    expect(isSound).toBe(true);
    return rest;
  };
  return { clock, store: memory.store, machine, requests, begin, run, beginInteractive, seen, sound };
};

/** The head of a straight line of one tool, which is done. */
export const finishedHead = async (): Promise<SagaHead> => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    answer: () => committed(),
  });
  await saga.run();
  return (await saga.seen()).head;
};
