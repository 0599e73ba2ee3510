/**
 * The calls of people and agents that move a saga without driving it, each with its function dead before or after every request that it
 * makes to a service. Then the same call is made again, or nobody does anything but the sweeper.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { FunctionFailure } from './cloud.ts';
import { aroundRequests } from './function-requests.ts';
import { addOrder, type SagaCloud } from './saga-cloud.ts';

type Status = Observation['status'];
type Cloud = Pick<SagaCloud['cloud'], 'invoke'>;

const AT_ONCE = 8;
/** Most of them wait for the sweeper. */
const WATCHED_AT_ONCE = 100;
const SWEEPS_EVERY_MS = 5_000;
/** Just enough for the function to make the call itself. */
const WAIT_SECONDS = 8;
const PATIENCE = { timeout: 600_000, interval: 1_000 };
const by = 'ada';
const AMOUNT = 2500;

/** A saga as it stands before the call, and the call. */
interface Kind {
  function: string;
  prepare: (stage: Stage, id: string) => Promise<unknown>;
  call: (id: string) => object;
  /** Before the call, and when it was made. */
  from: Status;
  to: Status;
}

interface Stage {
  sagas: SagaCloud;
  /** Whose compensators are refused. */
  refused: Set<string>;
}

const pay = (id: string) => ({
  id: 'pay',
  tool: 'issue_refund',
  arguments: { paymentIntent: `pi_${id}`, amount: AMOUNT },
});
const book = (id: string) => ({
  id: 'book',
  tool: 'post_ledger_adjustment',
  arguments: { memo: `of ${id}`, amount: -AMOUNT },
});
const refusedStep = { ...pay('nowhere'), id: 'refused' };

const isAt = async (cloud: Cloud, sagaId: string, status: Status): Promise<void> =>
  expect.poll(async () => (await cloud.invoke('describe-saga', { sagaId }))['status'], PATIENCE).toBe(status);

const begun = async ({ sagas }: Stage, id: string, steps: object[], status: Status): Promise<void> => {
  const { cloud } = sagas;
  await cloud.invoke('start-saga', { sagaId: id, plan: { steps }, input: {}, requestedBy: 'agent-7' });
  await isAt(cloud, id, status);
};
const finished = (stage: Stage, id: string) => begun(stage, id, [pay(id), book(id)], 'COMPLETED');
const asking = (stage: Stage, id: string) =>
  begun(stage, id, [pay(id), { ...book(id), approval: { timeoutSeconds: 3000 } }], 'AWAITING');
const stuck = async (stage: Stage, id: string, steps: object[] = [pay(id), book(id), refusedStep]) => {
  stage.refused.add(id);
  await begun(stage, id, steps, 'COMPENSATION_FAILED');
  stage.refused.delete(id);
};
const bookBelow = (id: string, more: object = {}) => ({
  id: 'child',
  saga: { plan: { steps: [{ ...book(id), ...more }] } },
  input: {},
});
const finishedTree = (stage: Stage, id: string) => begun(stage, id, [pay(id), bookBelow(id)], 'COMPLETED');
const askingBelow = async (stage: Stage, id: string) => {
  await begun(stage, id, [pay(id), bookBelow(id, { approval: { timeoutSeconds: 3000 } })], 'RUNNING');
  await expect
    .poll(async () => JSON.stringify(await stage.sagas.observe(id, 0)), PATIENCE)
    .toContain('"AWAITING"');
};
/** Its rewind could not take back the booking. */
const stuckRewind = async (stage: Stage, id: string) => {
  await finished(stage, id);
  stage.refused.add(id);
  await stage.sagas.cloud.invoke('rewind', { sagaId: id, requestId: 'back', to: { stepId: 'pay' }, by });
  await isAt(stage.sagas.cloud, id, 'COMPENSATION_FAILED');
  stage.refused.delete(id);
};
const stuckBelow = (stage: Stage, id: string) =>
  stuck(stage, id, [{ id: 'child', saga: { plan: { steps: [pay(id), book(id), refusedStep] } }, input: {} }]);

const live = async ({ sagas: { cloud } }: Stage, sagaId: string): Promise<void> => {
  await cloud.invoke('start-saga', { sagaId, interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7' });
  const { id: stepId, ...step } = pay(sagaId);
  await cloud.invoke('submit-step', { sagaId, stepId, ...step, observe: false });
};
const parked = async (stage: Stage, sagaId: string): Promise<void> => {
  await live(stage, sagaId);
  await stage.sagas.cloud.invoke('park-saga', { sagaId, summary: 'enough' });
};
const submission = (prepare: Kind['prepare'], from: Status): Kind => ({
  function: 'submit-step',
  prepare,
  call: (sagaId) => {
    const { id: stepId, ...step } = book(sagaId);
    return { sagaId, stepId, ...step, sessionId: 'other', waitSeconds: WAIT_SECONDS, observe: false };
  },
  from,
  to: 'RUNNING',
});
const closing = (outcome: 'complete' | 'unwind', to: Status): Kind => ({
  function: 'close-saga',
  prepare: live,
  call: (sagaId) => ({ sagaId, outcome }),
  from: 'RUNNING',
  to,
});

const answer = (decision: string, to: Status): Kind => ({
  function: 'answer',
  prepare: asking,
  call: (sagaId) => ({ sagaId, stepId: 'book', decision, by }),
  from: 'AWAITING',
  to,
});
const operation = (
  action: string,
  prepare: Kind['prepare'],
  [from, to]: readonly [Status, Status],
  more: object = {},
): Kind => ({
  function: 'operate-saga',
  prepare,
  call: (sagaId) => ({ sagaId, action, by, ...more }),
  from,
  to,
});
const REPAIRED = ['COMPENSATION_FAILED', 'COMPENSATED'] as const;
const DECIDED = { stepId: 'book', evidence: 'by hand' };
const rewind = (prepare: Kind['prepare'], status: Status, to: object): Kind => ({
  function: 'rewind',
  prepare,
  call: (sagaId) => ({ sagaId, requestId: 'back', to, guidance: 'again', by }),
  from: status,
  to: status,
});

const KINDS: Record<string, Kind> = {
  approve: answer('approve', 'COMPLETED'),
  reject: answer('reject', 'COMPENSATED'),
  cancel: operation('cancel', asking, ['AWAITING', 'COMPENSATED']),
  'cancel-live': operation('cancel', live, ['RUNNING', 'COMPENSATED']),
  retry: operation('retry', stuck, REPAIRED),
  resolve: operation('resolve', stuck, REPAIRED, DECIDED),
  skip: operation('skip', stuck, REPAIRED, DECIDED),
  undo: operation('undo', finished, ['COMPLETED', 'COMPENSATED']),
  resume: operation('resume', parked, ['PARKED', 'RUNNING']),
  'retry-below': {
    ...operation('retry', stuckBelow, REPAIRED),
    call: (id) => ({ sagaId: `${id}.child`, action: 'retry', by }),
  },
  rewind: rewind(finished, 'COMPLETED', { stepId: 'pay' }),
  'rewind-live': rewind(live, 'RUNNING', { steps: 1 }),
  'rewind-plan': {
    ...rewind(finished, 'COMPLETED', { stepId: 'pay' }),
    call: (id) => ({
      sagaId: id,
      requestId: 'back',
      to: { stepId: 'pay' },
      guidance: 'again',
      plan: { steps: [{ ...book(id), id: 'book-anew' }] },
      by,
    }),
  },
  'rewind-tree': rewind(finishedTree, 'COMPLETED', { stepId: 'pay' }),
  'rewind-stuck': operation('retry', stuckRewind, ['COMPENSATION_FAILED', 'COMPLETED']),
  'undo-tree': operation('undo', finishedTree, ['COMPLETED', 'COMPENSATED']),
  'cancel-above': operation('cancel', askingBelow, ['RUNNING', 'COMPENSATED']),
  'cancel-parked': operation('cancel', parked, ['PARKED', 'COMPENSATED']),
  submit: submission(live, 'RUNNING'),
  'submit-parked': submission(parked, 'PARKED'),
  complete: closing('complete', 'COMPLETED'),
  unwind: closing('unwind', 'COMPENSATED'),
  park: {
    function: 'park-saga',
    prepare: live,
    call: (sagaId) => ({ sagaId, summary: 'enough', requestId: 'aside' }),
    from: 'RUNNING',
    to: 'PARKED',
  },
};

const prepare = async (stage: Stage, kind: Kind, id: string): Promise<void> => {
  addOrder(stage.sagas.server, id);
  await kind.prepare(stage, id);
};

class Died extends Error {}

/** Makes the call, and counts what its function asks of services; dead, it asks nothing any more. */
const callOf = async (
  cloud: Cloud,
  kind: Kind,
  id: string,
  death?: { request: number; when: 'before' | 'after' },
): Promise<{ requests: number; answer?: Record<string, unknown> }> => {
  let requests = 0;
  const isDead = (when: 'before' | 'after'): boolean =>
    death !== undefined && (requests > death.request || (requests === death.request && death.when === when));
  const end = aroundRequests(async (name, request) => {
    if (name !== `walkback-${kind.function}`) return request();
    requests += 1;
    if (isDead('before')) throw new Died();
    const answered = await request();
    if (isDead('before') || isDead('after')) throw new Died();
    return answered;
  });
  try {
    const answered = await cloud.invoke(kind.function, kind.call(id));
    return { requests, answer: answered };
  } catch (error) {
    if (death === undefined || !(error instanceof FunctionFailure)) throw error;
    return { requests };
  } finally {
    end();
  }
};

interface Case {
  id: string;
  kind: Kind;
  request: number;
  when: 'before' | 'after';
  isRepeated: boolean;
}

/** What the call changed for good: its saga has ended as told, or stands or waits as before, with nothing twice. */
const expectSettled = async ({ sagas }: Stage, { id, kind, isRepeated }: Case): Promise<void> => {
  const ends = isRepeated ? [kind.to] : [kind.from, kind.to];
  const seen = async () => {
    const { status, doing, awaitingBelow } = await sagas.observe(id, 0);
    return ends.includes(status) && (doing === undefined || awaitingBelow !== undefined);
  };
  try {
    await expect.poll(seen, PATIENCE).toBe(true);
  } catch (cause) {
    // What it did says why; it may not come to this again for long.
    const { rows } = await sagas.rows(id);
    const story = rows.map((row) => JSON.stringify(row));
    throw new Error(`${id} does not come to an end:\n${story.join('\n')}`, { cause });
  }
  const { status } = await sagas.observe(id, 0);
  const { stripe, netsuite } = sagas.server.world;
  const refunds = stripe.state.refunds.filter(({ payment_intent }) => payment_intent === `pi_${id}`);
  const stands = refunds.filter((one) => one.status !== 'canceled').length;
  const entries = netsuite.state.entries.filter(({ memo }) => memo.split(' ').includes(id));
  const booked = entries.reduce((sum, { amount }) => sum + amount, 0) + 0;
  expect({ id, ever: refunds.length, once: booked === 0 || booked === -AMOUNT }).toEqual({
    id,
    ever: 1,
    once: true,
  });
  if (status === 'COMPENSATED') expect({ id, stands }).toEqual({ id, stands: 0 });
  if (status === 'COMPLETED') expect({ id, stands }).toEqual({ id, stands: 1 });
  expect(await sagas.isSound(id), id).toBe(true);
};

/** Every second of the deaths, others with the next seed. Answers how many calls died. */
export const dieInCalls = async (sagas: SagaCloud, seed: number): Promise<number> => {
  const stage: Stage = { sagas, refused: new Set() };
  sagas.faults.closedPeriod = (_, externalId) =>
    externalId.endsWith(':undo') && [...stage.refused].some((id) => /^[:.]/.test(externalId.replace(id, '')));
  const { cloud } = sagas;
  const died: Case[] = [];
  for (const [name, kind] of Object.entries(KINDS)) {
    const living = `${name}-alive`;
    await prepare(stage, kind, living);
    const alive = await callOf(cloud, kind, living);
    const shape = Object.keys(alive.answer ?? {}).sort();
    expect(shape, living).toContain(kind.function === 'submit-step' ? 'step' : 'status');
    const cases = [true, false].flatMap((isRepeated) =>
      (['before', 'after'] as const).flatMap((when) =>
        Array.from({ length: alive.requests }, (_, n): Case => {
          const id = `${name}-${when}-${n + 1}-${isRepeated ? 'again' : 'alone'}`;
          return { id, kind, request: n + 1, when, isRepeated };
        }),
      ),
    );
    const chosen = cases.filter((_, n) => (n + seed) % 2 === 0);
    await mapAtOnce(chosen, AT_ONCE, ({ id }) => prepare(stage, kind, id));
    for (const one of chosen) {
      await callOf(cloud, kind, one.id, one);
      if (!one.isRepeated) continue;
      const { answer: again = {} } = await callOf(cloud, kind, one.id);
      expect(Object.keys(again).sort(), one.id).toEqual(shape);
    }
    died.push(...chosen);
  }
  const over = new AbortController();
  const sweeping = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await cloud.invoke('sweep', {});
      await sleep(SWEEPS_EVERY_MS);
    }
  };
  const sweeper = sweeping();
  try {
    await mapAtOnce(died, WATCHED_AT_ONCE, (one) => expectSettled(stage, one));
  } finally {
    over.abort();
    await sweeper;
  }
  return died.length;
};
