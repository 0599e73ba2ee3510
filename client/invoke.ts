/**
 * Calls functions by their rows. It owns what a lost answer means (K1): a call with an id is made again with
 * the same request, so that nothing is done twice. For any other call, the caller is told.
 */

import type { Connection } from './connect.ts';
import { errors, isWalkbackError } from './errors.ts';
import { requireFields, requireOnly } from './given.ts';
import { callLambda } from './lambda-call.ts';
import type { Answer, Request } from './requests.ts';
import { type ClientFunction, isClientFunction, patienceMs } from './timeouts.ts';
import { unlessAborted } from './waiting.ts';

/** The last argument of every method that calls a function. */
export interface CallOptions {
  /**
   * Ends the waiting. What the function does goes on. The same call again, with the same id, finishes it or
   * answers its result.
   */
  signal?: AbortSignal | undefined;
}

/** Calls a function by its name in the contract. Throws its error by its literal name. */
export type Invoke = <Name extends ClientFunction>(
  name: Name,
  request: Request<Name>,
  options?: CallOptions,
) => Promise<Answer<Name>>;

export interface InvokeDeps {
  /** Opens the connection, or answers the open one. */
  connection(): Promise<Connection>;
  /**
   * Makes the next call look for the functions again, when these may be somewhere else by now. Does nothing
   * if that was done since `from`.
   */
  reconnect(from: Connection): void;
  /** Prefix of the functions' names on this connection. */
  namePrefix: string | ((connection: Connection) => string);
  signal: AbortSignal | undefined;
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** A random number from 0 to 1. */
  random(): number;
  /** How often a call with an id is tried. Default: 6. */
  attempts?: number;
  /** How long one try may take. Default: longer than the function may run. */
  patienceMs?: (name: ClientFunction) => number;
}

const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 8000;

/**
 * Full jitter: any time between nothing and the whole pause, so that callers that failed together do not
 * return together.
 */
const pauseMs = (attempt: number, random: number): number =>
  random * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);

/** The field that identifies a call. Without it, a second call would be a different one. */
const NAMED_BY: { readonly [Name in ClientFunction]?: string } = {
  'start-session': 'sessionId',
  rehydrate: 'requestId',
  'start-saga': 'sagaId',
  'park-saga': 'requestId',
};

const isRepeatable = (name: ClientFunction, request: object): boolean => {
  const member = NAMED_BY[name];
  return member === undefined || Reflect.get(request, member) !== undefined;
};

const isWorthAnotherTry = (error: unknown): boolean =>
  isWalkbackError(error) && error.retryable && error.kind === 'fault';

const joined = (one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined =>
  one === undefined || other === undefined ? (one ?? other) : AbortSignal.any([one, other]);

/** A signal in another place would end nothing, so it is refused. */
const requireCallOptions = (request: object, options: CallOptions): void => {
  if (options instanceof AbortSignal || Reflect.get(request, 'signal') instanceof AbortSignal) {
    throw new errors.InvalidInput('A signal goes in the last argument: { signal }.');
  }
  requireOnly('the last argument', options, { 'signal?': 'signal' });
};

/** Like `Invoke`, for requests whose types are defined elsewhere. */
export type Call = <T>(name: ClientFunction, request: object, options?: CallOptions) => Promise<T>;

export const createCall =
  (deps: InvokeDeps): Call =>
  async <T>(name: ClientFunction, request: object, options: CallOptions = {}): Promise<T> => {
    // A program without types may have used another name.
    if (!isClientFunction(name))
      throw new errors.InvalidInput(`There is no function ${String(name)} for callers.`);
    requireFields('invoke', { request }, { request: 'object' });
    requireCallOptions(request, options);
    const signal = joined(deps.signal, options.signal);
    const payload = JSON.stringify(request);
    const timeoutMs = (deps.patienceMs ?? patienceMs)(name);
    const attempts = isRepeatable(name, request) ? (deps.attempts ?? ATTEMPTS) : 1;
    let connection: Connection | undefined;
    const once = async (): Promise<T> => {
      connection = undefined;
      // This may have to start the embedded cloud first.
      connection = await unlessAborted(deps.connection(), signal);
      const { namePrefix } = deps;
      const prefix = typeof namePrefix === 'string' ? namePrefix : namePrefix(connection);
      return callLambda<T>(connection.lambda, {
        functionName: `${prefix}-${name}`,
        payload,
        timeoutMs,
        signal,
      });
    };
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once();
      } catch (error) {
        if (attempt + 1 >= attempts || !isWorthAnotherTry(error)) throw error;
        if (connection !== undefined && isWalkbackError(error, 'CloudUnavailable'))
          deps.reconnect(connection);
      }
      await deps.sleep(pauseMs(attempt, deps.random()), signal);
    }
  };

export const createInvoke = (deps: InvokeDeps): Invoke => createCall(deps);
