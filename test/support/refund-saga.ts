/** The refund saga, run in process: real core, real kit, the example's services, faults at chosen points. */

import { expect } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { differingHeadFields } from '../../core/saga/entries/check-head.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import { readEngineError, readToolResponse } from '../../core/saga/tools/tool-protocol.ts';
import { observe } from '../../core/saga/view/observation.ts';
import { refundDefinitions, refundManifests, refundTools } from '../../examples/refund/catalog.ts';
import type { WorldOptions } from '../../examples/refund/services/world.ts';
import type { Fetch } from '../../examples/refund/tools/http.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import type { Fault, Invoke } from '../../kit/testing/faults.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { type MachineOptions, sagaMachine } from '../../kit/testing/saga-machine.ts';
import { type VirtualClock, virtualClock } from '../../kit/testing/virtual-clock.ts';
import { effectsOf, refundFixture } from './refund-fixture.ts';
import { endingAfter } from './tool-functions.ts';

/** As deployed: in a process of its own, one for all machines of a file. */
const evaluate = createEvaluator();

export interface RefundSagaOptions extends Fault {
  faults?: WorldOptions['faults'];
  replay?: boolean;
  definition?: string;
  network?: (fetch: Fetch, clock: VirtualClock) => Fetch;
  onAwait?: MachineOptions['onAwait'];
  maxHistoryEvents?: number;
}

/** It changes nothing, so nothing of it can come late. */
const READ = 'verify_return_eligibility';

/** Calls that began while an earlier one on the same effect could still act (S3). */
const watchOverlap = (clock: VirtualClock) => {
  const open = new Map<string, number>();
  const overlaps: string[] = [];
  const watch =
    (invoke: Invoke): Invoke =>
    async (payload) => {
      const busyUntil = open.get(payload.forwardKey) ?? 0;
      if (clock.nowMs() < busyUntil) overlaps.push(`${payload.operation} of ${payload.step} came too early`);
      if (payload.tool !== READ) open.set(payload.forwardKey, payload.deadlineMs + 5000);
      const result = await invoke(payload);
      const outcome =
        'Payload' in result ? readToolResponse(result.Payload) : readEngineError(result.Error, result.Cause);
      if (outcome.outcome !== 'unknown') open.delete(payload.forwardKey);
      return result;
    };
  return { overlaps, watch };
};

export const SAGA_ID = 'saga-1';

export const refundSaga = async (options: RefundSagaOptions = {}) => {
  const clock = virtualClock();
  const memory = memorySagaStore();
  const fixture = refundFixture(
    { now: clock.nowMs, ...(options.faults === undefined ? {} : { faults: options.faults }) },
    (fetch) => options.network?.(fetch, clock) ?? fetch,
  );
  const handle = toolHandler(refundTools(fixture.services), {
    tombstones: memoryTombstones(),
    now: clock.nowMs,
  });
  const direct: Invoke = async (payload) => ({ Payload: await handle(structuredClone(payload)) });
  const { overlaps, watch } = watchOverlap(clock);
  const invoke = watch(options.around?.(direct, clock) ?? direct);
  const store = options.storing?.(memory.store, clock) ?? memory.store;
  await createPutCatalog({ store, functions: endingAfter(32) })({
    tools: refundManifests(fixture.services, 'refund-tools'),
    definitions: refundDefinitions,
  });
  const machine = sagaMachine({
    evaluate,
    store,
    clock,
    invoke: (_, payload) => invoke(payload),
    ...(options.replay === undefined ? {} : { replay: options.replay }),
    ...(options.onAwait === undefined ? {} : { onAwait: options.onAwait }),
    ...(options.maxHistoryEvents === undefined ? {} : { maxHistoryEvents: options.maxHistoryEvents }),
  });
  const start = () =>
    machine.start({
      sagaId: SAGA_ID,
      definition: { name: options.definition ?? 'refund' },
      input: { orderId: 'order-1' },
      requestedBy: 'agent-7',
    });
  /** Starts, and goes as far as it comes by itself. */
  const run = async (): Promise<void> => {
    await start();
    await machine.settle();
  };
  const seen = async () => {
    const head = memory.heads.get(SAGA_ID);
    if (head === undefined) throw new Error('the saga was not started');
    const entries = await memory.store.listEntries(SAGA_ID);
    return { head, entries, observation: observe(head, entries), effects: effectsOf(fixture) };
  };
  return { clock, memory, store, machine, fixture, handle, start, run, seen, overlaps };
};

export type RefundSaga = Awaited<ReturnType<typeof refundSaga>>;

/** Steps in the order their compensators began, one list per way back: an operator may order another. */
const undoStarts = (entries: readonly LedgerEntry[]): number[][] => {
  const rounds: number[][] = [[]];
  for (const entry of entries) {
    if (entry.direction === 'operator' || entry.status === 'rewound') rounds.push([]);
    if (entry.direction === 'undo' && entry.status === 'started' && entry.attempt === 1)
      rounds.at(-1)?.push(entry.stepIndex);
  }
  return rounds;
};

/** The conditions on every ledger, whatever went wrong (S2, S5, S9, S10). */
export const expectLedger = async (saga: RefundSaga): Promise<void> => {
  const { head, entries } = await saga.seen();
  expect(fold(entries), 'fold(entries) == head.state').toEqual(head.state);
  expect(differingHeadFields(head, entries), 'the head says what the ledger says').toEqual([]);
  expect(findChainBreak(entries, head), 'the hash chain holds').toBeUndefined();
  expect(unpackEffects(packEffects(head.state.effects)), 'effects survive packing').toEqual(
    head.state.effects,
  );

  const keys = new Map<string, Set<string>>();
  for (const entry of entries) {
    if (entry.direction !== 'forward' && entry.direction !== 'probe') continue;
    const place = `${entry.stepIndex}@${entry.epoch}`;
    keys.set(place, (keys.get(place) ?? new Set<string>()).add(entry.idempotencyKey));
  }
  for (const used of keys.values()) expect(used.size, 'never a fresh key').toBe(1);
  const all = [...keys.values()].flatMap((used) => [...used]);
  expect(new Set(all).size, 'no two steps and no two epochs share a key').toBe(all.length);
  expect(saga.overlaps, 'nothing is repeated, probed or undone while a lost call may act').toEqual([]);

  for (const undone of undoStarts(entries)) {
    expect(undone, 'compensators in reverse order of start, once each').toEqual(
      [...new Set(undone)].sort((x, y) => y - x),
    );
  }
};

/** What the providers still show of each step. */
export const standingOf = (effects: ReturnType<typeof effectsOf>) => ({
  refund: effects.refunds.some((refund) => refund.status !== 'canceled'),
  ticket: effects.tickets.some((ticket) => ticket.status !== 'closed'),
  booking: effects.entries.reduce((sum, entry) => sum + entry.amount, 0) !== 0,
  confirm: effects.mails.length > 0,
});

/** The conditions that hold after every run, whatever went wrong (S2, S5, S7, S9, S10, S12). */
export const expectInvariants = async (saga: RefundSaga): Promise<string> => {
  const { observation, effects } = await saga.seen();
  const { status } = observation;
  expect(['COMPLETED', 'COMPENSATED', 'COMPENSATION_FAILED']).toContain(status);

  await expectLedger(saga);
  const bookings = effects.entries.filter(({ externalId }) => !externalId.endsWith(':undo'));
  expect(effects.refunds.length, 'one refund at most').toBeLessThanOrEqual(1);
  expect(effects.tickets.length, 'one ticket at most').toBeLessThanOrEqual(1);
  expect(bookings.length, 'one booking at most').toBeLessThanOrEqual(1);
  expect(effects.mails.length, 'one mail at most').toBeLessThanOrEqual(1);

  const standing = standingOf(effects);
  const still = Object.entries(standing).flatMap(([step, stands]) => (stands ? [step] : []));
  if (status === 'COMPLETED') expect(still).toEqual(['refund', 'ticket', 'booking', 'confirm']);
  if (status === 'COMPENSATED') {
    const skipped = observation.notCompensated.map(({ step }) => step);
    expect(still.filter((step) => !skipped.includes(step))).toEqual([]);
  }
  if (status === 'COMPENSATION_FAILED') {
    const listed = observation.notCompensated.map(({ step }) => step);
    for (const step of still) expect(listed, `${step} stands and is listed`).toContain(step);
    expect(saga.machine.alerts.length).toBeGreaterThan(0);
  }
  return status;
};
