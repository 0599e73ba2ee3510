/** Failure points around one operation of one step: at the store and at the engine. */
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { Fact, LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { Invoked, SagaStore } from '../../core/saga/ports.ts';
import { Crash } from './saga-machine.ts';
import type { VirtualClock } from './virtual-clock.ts';

export type Invoke = (payload: ToolRequest) => Promise<Invoked>;

export interface Fault {
  /** Wraps the call of a function. */
  around?: (invoke: Invoke, clock: VirtualClock) => Invoke;
  /** Wraps the store that Advance writes through. */
  storing?: (store: SagaStore, clock: VirtualClock) => SagaStore;
}

export interface Point {
  operation: 'execute' | 'compensate';
  step: string;
  /** The saga whose step it is, when several sagas have a step of this name. */
  sagaId?: string;
}

const isSagaOf = ({ sagaId }: Point, actual: string): boolean => sagaId === undefined || sagaId === actual;

/** Fires only the first `times` times. */
export const firing = (times = 1) => {
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
      append: async (head, version, entries, beside) => {
        const hit = entries.some(matches) && fires();
        if (hit && when === 'before') throw new Crash('before the write');
        const outcome = await store.append(head, version, entries, beside);
        if (hit) throw new Crash('after the write');
        return outcome;
      },
    }),
  };
};

const isPoint = (point: Point) => (entry: LedgerEntry) =>
  entry.direction === direction(point.operation) &&
  'step' in entry &&
  entry.step === point.step &&
  isSagaOf(point, entry.sagaId);

export const around = (
  point: Point,
  act: (invoke: Invoke, payload: Parameters<Invoke>[0], clock: VirtualClock) => ReturnType<Invoke>,
  times = 1,
): Fault => {
  const fires = firing(times);
  return {
    around: (invoke, clock) => async (payload) => {
      const isMeant =
        payload.step === point.step &&
        payload.operation === point.operation &&
        isSagaOf(point, payload.sagaId);
      const hit = isMeant && fires();
      return hit ? act(invoke, payload, clock) : invoke(payload);
    },
  };
};

/** Failure points that are independent of the provider, by name. */
export const ENGINE_FAULTS: Record<string, (point: Point) => Fault> = {
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
};
