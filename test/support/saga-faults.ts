/** Failure points, as things that happen around one operation of one step: at the store, at the engine, on the wire. */
import type { Fact, LedgerEntry } from '../../core/saga/model.ts';
import { readReply } from '../../core/saga/tools/http-answer.ts';
import type { Fetch } from '../../examples/refund/tools/http.ts';
import type { Invoke, RefundSagaOptions } from './refund-saga.ts';
import { Crash } from './saga-machine.ts';

export interface Point {
  operation: 'execute' | 'compensate';
  step: string;
}

type Fault = Pick<RefundSagaOptions, 'around' | 'storing' | 'network'>;

/** Fires the first `times` times. */
const firing = (times = 1) => {
  let left = times;
  return () => left-- > 0;
};

const direction = (operation: Point['operation']): Fact['direction'] =>
  operation === 'execute' ? 'forward' : 'undo';

const onAppend = (matches: (entry: LedgerEntry) => boolean, when: 'before' | 'after'): Fault => {
  const fires = firing();
  return {
    storing: (store) => ({
      ...store,
      append: async (head, version, entries) => {
        const hit = entries.some(matches) && fires();
        if (hit && when === 'before') throw new Crash('before the write');
        const outcome = await store.append(head, version, entries);
        if (hit) throw new Crash('after the write');
        return outcome;
      },
    }),
  };
};

const isPoint = (point: Point) => (entry: LedgerEntry) =>
  entry.direction === direction(point.operation) && 'step' in entry && entry.step === point.step;

const around = (
  point: Point,
  act: (
    invoke: Invoke,
    payload: Parameters<Invoke>[0],
    clock: Parameters<NonNullable<RefundSagaOptions['around']>>[1],
  ) => ReturnType<Invoke>,
  times = 1,
): Fault => {
  const fires = firing(times);
  return {
    around: (invoke, clock) => async (payload) => {
      const hit = payload.step === point.step && payload.operation === point.operation && fires();
      return hit ? act(invoke, payload, clock) : invoke(payload);
    },
  };
};

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
  'dies before the intent is recorded': (point) =>
    onAppend((entry) => isPoint(point)(entry) && entry.status === 'started', 'before'),
  'dies after the intent, before the call': (point) =>
    onAppend((entry) => isPoint(point)(entry) && entry.status === 'started', 'after'),
  'dies after the effect, before the record': (point) =>
    onAppend((entry) => isPoint(point)(entry) && entry.status !== 'started', 'before'),
  'dies after the record': (point) =>
    onAppend((entry) => isPoint(point)(entry) && entry.status !== 'started', 'after'),
  'dies during the call': (point) =>
    around(point, async (invoke, payload) => {
      await invoke(payload);
      throw new Crash('during the call');
    }),
  'is throttled before the call': (point) =>
    around(point, async () => ({ Error: 'Lambda.TooManyRequestsException', Cause: 'Rate exceeded' })),
  'is throttled before every call': (point) =>
    around(
      point,
      async () => ({ Error: 'Lambda.TooManyRequestsException', Cause: 'Rate exceeded' }),
      Infinity,
    ),
  'times out before the effect': (point) =>
    around(point, async (_, __, clock) => {
      await clock.advance(35_000);
      return { Error: 'States.Timeout', Cause: '' };
    }),
  'times out after the effect': (point) =>
    around(point, async (invoke, payload, clock) => {
      await invoke(payload);
      await clock.advance(35_000);
      return { Error: 'States.Timeout', Cause: '' };
    }),
  'times out every time after the effect': (point) =>
    around(
      point,
      async (invoke, payload, clock) => {
        await invoke(payload);
        await clock.advance(35_000);
        return { Error: 'States.Timeout', Cause: '' };
      },
      Infinity,
    ),
  'crashes inside the function after the effect': (point) =>
    around(point, async (invoke, payload) => {
      await invoke(payload);
      return { Error: 'Lambda.Unknown', Cause: 'the process exited' };
    }),
  'ends with its process at the deadline, after the effect': (point) =>
    around(point, async (invoke, payload, clock) => {
      await invoke(payload);
      await clock.advance(Math.max(0, payload.deadlineMs - clock.nowMs()));
      return { Error: 'Runtime.ExitError', Cause: 'Runtime exited with error: exit status 1' };
    }),
  'is delivered twice, one after the other': (point) =>
    around(
      point,
      async (invoke, payload) => {
        await invoke(payload);
        return invoke(payload);
      },
      Infinity,
    ),
  'is delivered twice at once': (point) =>
    around(
      point,
      async (invoke, payload) => {
        const [first] = await Promise.all([invoke(payload), invoke(payload)]);
        return first;
      },
      Infinity,
    ),
  'answers something that is no outcome': (point) =>
    around(point, async (invoke, payload) => {
      await invoke(payload);
      return { Payload: { statusCode: 200 } };
    }),
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
  'can not reach the provider': (point) => onWire(point, async () => lost()),
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
  'loses the answer, and the probe can not say': (point) =>
    combine(FAULTS['loses the answer of the provider']?.(point) ?? {}, blindProbe(point.step)),
  'can not reach the provider, and the probe can not say': (point) =>
    combine(FAULTS['can not reach the provider']?.(point) ?? {}, blindProbe(point.step)),
  'loses every answer, and the probe can not say': (point) =>
    combine(FAULTS['loses every answer of the provider']?.(point) ?? {}, blindProbe(point.step)),
  'loses the answer, the probe can not say, and the key window closes': (point) =>
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
