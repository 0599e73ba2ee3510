/**
 * The composition root, with the `*-runtime.ts` files beside it. Only these read the environment and know
 * which adapter stands behind a port. There is one function per port and one file per kind of port, so that
 * a Lambda carries, loads and starts only the code that it uses.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { choiceOf } from '../core/shared/choice.ts';
import { WalkbackError } from '../core/shared/errors.ts';
import type { Clock, Log } from '../core/shared/surroundings.ts';

/** Metrics of the invocation, and annotations of its span. */
export interface Telemetry {
  measure: (name: string, value: number) => void;
  annotate: (name: string, value: string | number) => void;
}

const SILENT: Telemetry = { measure: () => undefined, annotate: () => undefined };

export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of this process. No other file in functions/ reads it. */
export const processEnvironment = (): Environment => process.env;

export const metricsNamespace = (): string | undefined =>
  optional(processEnvironment(), 'POWERTOOLS_METRICS_NAMESPACE');

/** The services that every function has. */
export interface Runtime {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Hex, as many digits as a UUID has. */
  readonly random: () => string;
}

export const createRuntime = (env: Environment, log: Log, telemetry: Telemetry = SILENT): Runtime => ({
  env,
  log,
  telemetry,
  clock: {
    now: () => new Date(),
    sleep: (ms) => sleep(ms),
    every: (ms, act) => {
      const timer = setInterval(act, ms);
      return () => clearInterval(timer);
    },
  },
  random: () => randomUUID().replaceAll('-', ''),
});

export const optional = (env: Environment, name: string): string | undefined => {
  const value = env[name]?.trim() ?? '';
  return value === '' ? undefined : value;
};

export const required = (env: Environment, name: string): string => {
  const value = optional(env, name);
  if (value !== undefined) return value;
  throw new WalkbackError('ConfigurationError', `The environment variable ${name} is not set.`, {
    details: { name },
  });
};

export const isOn = (env: Environment, name: string): boolean =>
  choiceOf(
    env,
    name,
    ['true', 'false'],
    (message) => new WalkbackError('ConfigurationError', message, { details: { name } }),
  ) === 'true';
