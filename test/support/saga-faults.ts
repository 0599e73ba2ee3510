/** Failure points, as things that happen around one operation of one step: at the store, at the engine, on the wire. */
import { readReply } from '../../core/saga/tools/http-response.ts';
import type { Fetch } from '../../examples/refund/tools/http.ts';
import {
  around,
  ENGINE_FAULTS,
  type Fault as EngineFault,
  firing,
  type Invoke,
  type Point,
} from '../../kit/testing/faults.ts';
import type { RefundSagaOptions } from './refund-saga.ts';

type Fault = EngineFault & Pick<RefundSagaOptions, 'network'>;

const isWrite = (init?: RequestInit): boolean => init?.method === 'POST' || init?.method === 'PUT';

/** Follows the operation that is running, so that the wire knows whose request it carries. */
const onWire = (
  point: Point,
  carry: (
    send: () => Promise<Response>,
    clock: Parameters<NonNullable<RefundSagaOptions['network']>>[1],
    deadlineMs: number,
  ) => Promise<Response>,
  options: { times?: number; reads?: boolean } = {},
): Fault => {
  const fires = firing(options.times);
  let running: Parameters<Invoke>[0] | undefined;
  return {
    around: (invoke) => async (payload) => {
      running = payload;
      return invoke(payload);
    },
    network:
      (fetch, clock): Fetch =>
      async (input, init) => {
        const mine = running?.step === point.step && running.operation === point.operation;
        const wanted = options.reads === true || isWrite(init);
        const hit = mine && wanted && fires();
        const { signal: _, ...rest } = init ?? {};
        return hit ? carry(() => fetch(input, rest), clock, running?.deadlineMs ?? 0) : fetch(input, init);
      },
  };
};

const lost = (): never => {
  throw new TypeError('fetch failed');
};

/** The probe of this step gets no answers. */
const blindProbe = (step: string): Fault => ({
  around: (invoke) => async (payload) =>
    payload.step === step && payload.operation === 'probe'
      ? {
          Payload: {
            outcome: 'unknown',
            error: { name: 'ConnectionLost', message: 'no answer' },
            answered: false,
          },
        }
      : invoke(payload),
});

const combine = (...faults: Fault[]): Fault => ({
  around: (invoke, clock) => faults.reduce((inner, fault) => fault.around?.(inner, clock) ?? inner, invoke),
  storing: (store, clock) => faults.reduce((inner, fault) => fault.storing?.(inner, clock) ?? inner, store),
  network: (fetch, clock) => faults.reduce((inner, fault) => fault.network?.(inner, clock) ?? inner, fetch),
});

const CENTURY_MS = 100 * 365 * 24 * 3600_000;

/** The provider is away from the first request of this operation on, for so long. */
const outage = (point: Point, lastsMs: number): Fault => {
  let sinceMs: number | undefined;
  return onWire(
    point,
    async (send, clock) => {
      sinceMs ??= clock.nowMs();
      return clock.nowMs() - sinceMs < lastsMs ? lost() : send();
    },
    { times: Infinity, reads: true },
  );
};

const answers404 = async () => ({
  Payload: readReply({ kind: 'answered', status: 404, body: 'no such path' }, 0),
});

const hasNoFunction = async () => ({
  Error: 'Lambda.ResourceNotFoundException',
  Cause: 'Function not found (Service: AWSLambda; Status Code: 404; Error Code: ResourceNotFoundException)',
});

/** Every failure point, by name. */
export const FAULTS: Record<string, (point: Point) => Fault> = {
  ...ENGINE_FAULTS,
  'loses the answer of the provider': (point) =>
    onWire(point, async (send) => {
      await send();
      return lost();
    }),
  'loses every answer of the provider': (point) =>
    onWire(
      point,
      async (send) => {
        await send();
        return lost();
      },
      { times: Infinity, reads: true },
    ),
  'cannot reach the provider': (point) => onWire(point, async () => lost()),
  'can never reach the provider': (point) =>
    onWire(point, async () => lost(), { times: Infinity, reads: true }),
  'commits late, after the answer was given up': (point) =>
    onWire(point, async (send, clock, deadlineMs) => {
      clock.later(Math.max(0, deadlineMs - clock.nowMs()) + 1000, send);
      return lost();
    }),
  'gets a 500 before the effect': (point) =>
    onWire(point, async () =>
      Response.json({ error: { type: 'api_error', message: 'oops' } }, { status: 500 }),
    ),
  'gets a 500 after the effect': (point) =>
    onWire(point, async (send) => {
      await send();
      return Response.json({ error: { type: 'api_error', message: 'oops' } }, { status: 500 });
    }),
  'gets a 429': (point) =>
    onWire(point, async () =>
      Response.json(
        { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'slow' } },
        { status: 429 },
      ),
    ),
  'is asked to come back in two minutes': (point) =>
    onWire(point, async () =>
      Response.json(
        { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'slow' } },
        { status: 429, headers: { 'retry-after': '120' } },
      ),
    ),
  'is answered 404 by its endpoint': (point) => around(point, answers404),
  'is always answered 404 by its endpoint': (point) => around(point, answers404, Infinity),
  'has no function': (point) => around(point, hasNoFunction),
  'never has a function': (point) => around(point, hasNoFunction, Infinity),
  'meets an outage of 20 seconds': (point) => outage(point, 20_000),
  'meets an outage of ten minutes': (point) => outage(point, 600_000),
  'meets an outage of a day': (point) => outage(point, 24 * 3600_000),
  'is refused for good': (point) =>
    onWire(
      point,
      async () => Response.json({ error: { type: 'invalid_request_error', message: 'no' } }, { status: 400 }),
      { times: Infinity, reads: true },
    ),
  'loses the answer, and the probe cannot say': (point) =>
    combine(FAULTS['loses the answer of the provider']?.(point) ?? {}, blindProbe(point.step)),
  'cannot reach the provider, and the probe cannot say': (point) =>
    combine(FAULTS['cannot reach the provider']?.(point) ?? {}, blindProbe(point.step)),
  'loses every answer, and the probe cannot say': (point) =>
    combine(FAULTS['loses every answer of the provider']?.(point) ?? {}, blindProbe(point.step)),
  'loses the answer, the probe cannot say, and the key window closes': (point) =>
    combine(
      around(point, async (invoke, payload, clock) => {
        await invoke(payload);
        await clock.advance(CENTURY_MS);
        return { Error: 'Lambda.Unknown', Cause: '' };
      }),
      blindProbe(point.step),
    ),
};

const STEPS = ['verify', 'refund', 'ticket', 'booking', 'confirm'] as const;
const UNDONE_STEPS = ['booking', 'ticket', 'refund'] as const;

export const points: Point[] = [
  ...STEPS.map((step) => ({ operation: 'execute' as const, step })),
  ...UNDONE_STEPS.map((step) => ({ operation: 'compensate' as const, step })),
];
