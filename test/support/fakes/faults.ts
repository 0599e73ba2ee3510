/**
 * Failures at the ports. A call is numbered when it is made; at number `at` it fails, before or after it had its
 * effect. `death`: the process is gone, so nothing it calls afterwards happens either. `error`: one call fails with
 * a retryable error and the rest work.
 */
import { WalkbackError } from '../../../core/shared/errors.ts';

export interface Fault {
  at: number;
  when: 'before' | 'after';
  kind: 'death' | 'error';
}

/** What may happen at a call. */
export const FAULTS: readonly Omit<Fault, 'at'>[] = [
  { when: 'before', kind: 'death' },
  { when: 'after', kind: 'death' },
  { when: 'before', kind: 'error' },
  { when: 'after', kind: 'error' },
];

export class Death extends Error {
  override readonly name = 'Death';
}

export interface Counter {
  calls: string[];
  readonly fired: boolean;
  wrap<T extends object>(name: string, port: T): T;
}

/** Each method of a port goes through `call`, which may do it or not. */
const wrapping =
  (call: (name: string, work: () => unknown) => Promise<unknown>): Counter['wrap'] =>
  (name, port) =>
    new Proxy(port, {
      get: (target, property, receiver) => {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          call(`${name}.${String(property)}`, () => Reflect.apply(value, target, args) as unknown);
      },
    });

export const createCounter = (fault?: Fault): Counter => {
  const state = { calls: [] as string[], dead: false, fired: false };

  const fail = (name: string): never => {
    state.fired = true;
    if (fault?.kind === 'death') {
      state.dead = true;
      throw new Death(name);
    }
    throw new WalkbackError('StorageUnavailable', `${name} failed`, { retryable: true });
  };

  const call = async (name: string, work: () => unknown): Promise<unknown> => {
    if (state.dead) throw new Death(name);
    state.calls.push(name);
    const isMine = state.calls.length === fault?.at;
    if (isMine && fault?.when === 'before') fail(name);
    const result = await work();
    if (isMine && fault?.when === 'after') fail(name);
    // It died while this call was under way: its answer reaches nobody.
    if (state.dead) throw new Death(name);
    return result;
  };

  return {
    calls: state.calls,
    get fired() {
      return state.fired;
    },
    wrap: wrapping(call),
  };
};

/** Lets `act` happen once, before or after call number `at`. */
export const meanwhile = (at: number, when: 'before' | 'after', act: () => unknown): Counter => {
  const calls: string[] = [];
  let fired = false;
  const fire = async () => {
    fired = true;
    await act();
  };
  return {
    calls,
    get fired() {
      return fired;
    },
    wrap: wrapping(async (name, work) => {
      const isMine = calls.push(name) === at;
      if (isMine && when === 'before') await fire();
      const result = await work();
      if (isMine && when === 'after') await fire();
      return result;
    }),
  };
};
