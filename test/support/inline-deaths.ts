/**
 * The calls that drive sagas inside a function, and a saga that the machine drives, side by side on a cloud that ends with
 * `kill -9` in the middle of them. Afterwards each call is made again on another cloud with the same data.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { CalledTool, SteppedSaga } from '../../contract/saga-answers.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { retryingErrors } from '../../core/shared/retry.ts';
import { FunctionFailure, startTestCloud, type TestCloud } from './cloud.ts';
import { type Death, startMortalCloud } from './mortal-cloud.ts';
import { addOrder, STRIPE_KEY, sagaClient, startSagaServices } from './saga-cloud.ts';

type Invoke = TestCloud['invoke'];
type Services = Awaited<ReturnType<typeof startSagaServices>>['server'];
/** How the saga of a call has ended. */
type Ended = 'COMPLETED' | 'COMPENSATED';

const PATIENCE_MS = 900_000;
const PATIENCE = { attempts: 40, firstMs: 200, mostMs: 5_000 };
const AMOUNT = 2500;
/** More wait for the sweeper than work. */
const ENDS_AT_ONCE = 12;

interface Call {
  /** Before anything is to die. */
  prepare?: (invoke: Invoke, id: string) => Promise<unknown>;
  make: (invoke: Invoke, id: string) => Promise<unknown>;
  /** Makes it again until it has come to its end; answers the saga and how that ends. */
  finish: (invoke: Invoke, id: string) => Promise<{ sagaId: string; ends: readonly Ended[] }>;
  /** It books, too. */
  books: boolean;
}

const isPassing = (error: unknown): boolean =>
  error instanceof FunctionFailure && error.message.includes('Call again');

/** Calls again when it is told to, as a backend does: a busy machine answers late. */
const patient =
  (cloud: TestCloud): Invoke =>
  (name, event) =>
    retryingErrors(PATIENCE, { sleep }, isPassing, () => cloud.invoke(name, event));

const soon = async (asked: () => Promise<boolean>, says: string): Promise<void> =>
  expect.poll(asked, { timeout: PATIENCE_MS, interval: 500, message: says }).toBe(true);

const begin = (invoke: Invoke, sagaId: string) =>
  invoke('start-saga', { sagaId, interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7' });

const submit = async (invoke: Invoke, sagaId: string, step: object): Promise<string> => {
  const answer = await invoke('submit-step', { sagaId, ...step, waitSeconds: 20, observe: false });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function's own answer
  return (answer as unknown as SteppedSaga).step.status;
};
const payment = (id: string) => ({ paymentIntent: `pi_${id}`, amount: AMOUNT });
const pay = (invoke: Invoke, id: string) =>
  submit(invoke, id, { stepId: 'pay', tool: 'issue_refund', arguments: payment(id) });
const book = (invoke: Invoke, id: string) =>
  submit(invoke, id, {
    stepId: 'book',
    tool: 'post_ledger_adjustment',
    arguments: { memo: `of ${id}`, amount: -AMOUNT },
  });
const withSteps = async (invoke: Invoke, id: string): Promise<void> => {
  await begin(invoke, id);
  await soon(async () => (await pay(invoke, id)) === 'committed', `${id} pays`);
  await soon(async () => (await book(invoke, id)) === 'committed', `${id} books`);
};

const close = (outcome: 'complete' | 'unwind') => (invoke: Invoke, sagaId: string) =>
  invoke('close-saga', { sagaId, outcome });

const callTool = async (invoke: Invoke, id: string): Promise<CalledTool> => {
  const call = { requestId: id, tool: 'issue_refund', arguments: payment(id), waitSeconds: 20 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function's own answer
  return (await invoke('call-tool', { ...call, requestedBy: 'agent-7' })) as unknown as CalledTool;
};

const startPlan = (drive: 'inline' | 'machine') => (invoke: Invoke, id: string) =>
  invoke('start-saga', {
    sagaId: id,
    definition: { name: 'refund' },
    input: { orderId: id },
    drive,
    requestedBy: 'agent-7',
  });

const planned = (drive: 'inline' | 'machine'): Call => ({
  make: startPlan(drive),
  finish: async (invoke, id) => {
    await startPlan(drive)(invoke, id);
    // On a busy machine a call may come too late.
    return { sagaId: id, ends: ['COMPLETED', 'COMPENSATED'] };
  },
  books: true,
});

const SETTLED = ['committed', 'undone', 'rejected'];

const CALLS: Record<string, Call> = {
  submit: {
    prepare: begin,
    make: pay,
    finish: async (invoke, id) => {
      let status = '';
      await soon(async () => SETTLED.includes((status = await pay(invoke, id))), `${id} is settled`);
      // Nothing of it stands, or all of it does; both sagas complete.
      await close(status === 'committed' ? 'complete' : 'unwind')(invoke, id);
      return { sagaId: id, ends: [status === 'committed' ? 'COMPLETED' : 'COMPENSATED'] };
    },
    books: false,
  },
  complete: {
    prepare: withSteps,
    make: close('complete'),
    finish: async (invoke, id) => {
      await close('complete')(invoke, id);
      return { sagaId: id, ends: ['COMPLETED'] };
    },
    books: true,
  },
  unwind: {
    prepare: withSteps,
    make: close('unwind'),
    finish: async (invoke, id) => {
      await close('unwind')(invoke, id);
      return { sagaId: id, ends: ['COMPENSATED'] };
    },
    books: true,
  },
  call: {
    make: callTool,
    finish: async (invoke, id) => {
      let answer: CalledTool | undefined;
      const isSettled = async () => {
        answer = await callTool(invoke, id);
        return SETTLED.includes(answer.step.status);
      };
      await soon(isSettled, `${id} is settled`);
      const ends = answer?.step.status === 'committed' ? 'COMPLETED' : 'COMPENSATED';
      return { sagaId: answer?.sagaId ?? '', ends: [ends] };
    },
    books: false,
  },
  inline: planned('inline'),
  machine: planned('machine'),
};

const NAMES = ['submit-step', 'close-saga', 'call-tool', 'start-saga', 'advance-saga'];
const FUNCTIONS = NAMES.map((name) => `walkback-${name}`);

/** What stands for one call at the providers, and how often something was done for it. */
const expectOnce = (server: Services, id: string, books: boolean, status: Ended): void => {
  const { stripe, netsuite } = server.world;
  const refunds = stripe.state.refunds.filter(({ payment_intent }) => payment_intent === `pi_${id}`);
  const stands = refunds.filter((one) => one.status !== 'canceled').length;
  const entries = netsuite.state.entries.filter(({ memo }) => memo.includes(id));
  const booked = entries.reduce((sum, { amount }) => sum + amount, 0);
  const isDone = status === 'COMPLETED';
  expect({ id, ever: refunds.length <= 1, stands, booked: booked + 0 }).toEqual({
    id,
    ever: true,
    stands: isDone ? 1 : 0,
    booked: isDone && books ? -AMOUNT : 0,
  });
};

export type Instant = Pick<Death, 'request' | 'when'>;

/** Answers how many calls got no answer, by kind. */
export const killInFunctions = async (instants: readonly Instant[]): Promise<Record<string, number>> => {
  const { server } = await startSagaServices();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => server.close());
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-inline-kill-'));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const lost: Record<string, number> = {};
  const made: { id: string; call: Call }[] = [];
  for (const [round, instant] of instants.entries()) {
    const calls = Object.entries(CALLS).map(([kind, call]) => ({ kind, call, id: `${kind}-${round}` }));
    made.push(...calls);
    for (const { id } of calls) addOrder(server, id);
    await using cloud = await startMortalCloud(dataDir, server.url);
    const invoke: Invoke = (name, event) => cloud.invoke(name, event);
    await Promise.all(calls.map(async ({ call, id }) => call.prepare?.(invoke, id)));
    const unanswered = await cloud.dieIn(
      { functions: FUNCTIONS, ...instant },
      calls.map(
        ({ call, id }) =>
          () =>
            call.make(invoke, id),
      ),
    );
    for (const [n, { kind }] of calls.entries()) {
      if (unanswered[n] === true) lost[kind] = (lost[kind] ?? 0) + 1;
    }
  }

  const settings = { REFUND_SERVICES_URL: server.url, REFUND_STRIPE_KEY: STRIPE_KEY };
  const cloud = cleanup.use(await startTestCloud({ dataDir }));
  cloud.reconfigure(settings);
  const client = sagaClient({ ...cloud, invoke: patient(cloud) }, server);
  cleanup.defer(async () => client.sfn.destroy());
  const invoke = patient(cloud);
  await mapAtOnce(made, ENDS_AT_ONCE, async ({ id, call }) => {
    const { sagaId, ends } = await call.finish(invoke, id);
    let status = '';
    const isEnded = async () => {
      ({ status } = await client.observe(sagaId, 20));
      return ends.some((end) => end === status);
    };
    await soon(isEnded, `${id} ends`);
    expectOnce(server, id, call.books, status === 'COMPLETED' ? 'COMPLETED' : 'COMPENSATED');
    expect(await client.isSound(sagaId), id).toBe(true);
  });
  return lost;
};
