/** Calls functions like the client does, with its retries and errors, worded for the person at the terminal. */
import { isWalkbackError } from '../../client/errors.ts';
import { createCall, type InvokeDeps } from '../../client/invoke.ts';
import { isClientFunction } from '../../client/timeouts.ts';
import { pause } from '../../client/waiting.ts';
import type { AnswerOf, CallableName } from '../../contract/functions.ts';
import type { DeployedName, Invoke, RequestOf } from '../../contract/invoke.ts';
import { CliError } from '../failure.ts';

/** Fewer than the client's, because a person is waiting. */
const ATTEMPTS = 4;

const PREFIX = 'walkback-';

const HINT =
  'check the credentials, AWS_REGION and what is deployed there, or use the embedded cloud with --local';

const worded = (error: unknown): unknown => {
  if (!isWalkbackError(error)) return error;
  const hint = error.name === 'ConfigurationError' ? { hint: HINT } : {};
  return new CliError(error.name, error.message, { cause: error, ...hint });
};

interface Options extends Pick<InvokeDeps, 'connection' | 'reconnect' | 'signal' | 'patienceMs'> {
  /** Name prefix of the deployment, when it is not `walkback`. */
  namePrefix?: string;
  attempts?: number;
}

/** A function's error becomes a `CliError` with its literal name. */
export const createCommandInvoke = ({ namePrefix = 'walkback', ...deps }: Options): Invoke => {
  const call = createCall({
    attempts: ATTEMPTS,
    ...deps,
    namePrefix,
    sleep: pause,
    random: Math.random,
  });
  return async <Name extends CallableName>(
    deployed: DeployedName<Name>,
    input: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> => {
    const name = deployed.slice(PREFIX.length);
    if (!isClientFunction(name)) throw new CliError('InternalError', `${deployed} is not for callers.`);
    try {
      return await call(name, input);
    } catch (error) {
      throw worded(error);
    }
  };
};
