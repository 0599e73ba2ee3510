/**
 * The composition root: the only place that reads the environment, and the only one that knows which adapter stands
 * behind a port. One function per port, so that a Lambda carries and starts only what it uses.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBundleStore } from '../adapters/aws/bundle-store.ts';
import { createEventBus } from '../adapters/aws/event-bus.ts';
import { createSecret } from '../adapters/aws/secret.ts';
import { createSessionStore } from '../adapters/aws/session-store.ts';
import { createRotatingSandboxes } from '../adapters/e2b/rotating.ts';
import { createRepositories } from '../adapters/git/repositories.ts';
import { WalkbackError } from '../core/errors.ts';
import type {
  BundleStore,
  Clock,
  Events,
  Log,
  Repositories,
  Sandboxes,
  SessionStore,
} from '../core/ports.ts';
import { countingEvents } from './event-metrics.ts';

/** Numbers and marks for whoever watches: metrics of the invocation, and annotations of its span. */
export interface Telemetry {
  measure: (name: string, value: number) => void;
  annotate: (name: string, value: string | number) => void;
}

const SILENT: Telemetry = { measure: () => undefined, annotate: () => undefined };

export type Environment = Readonly<Record<string, string | undefined>>;

/** What every function has, whatever it does. */
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
  clock: { now: () => new Date(), sleep: (ms) => sleep(ms) },
  random: () => randomUUID().replaceAll('-', ''),
});

const optional = (env: Environment, name: string): string | undefined => {
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

export const sessionStore = ({ env }: Runtime): SessionStore =>
  createSessionStore({ tableName: required(env, 'WALKBACK_SESSIONS_TABLE') });

export const bundleStore = ({ env }: Runtime): BundleStore =>
  createBundleStore({ bucket: required(env, 'WALKBACK_BUCKET') });

export const eventBus = ({ env, telemetry }: Runtime): Events =>
  countingEvents(createEventBus({ busName: required(env, 'WALKBACK_EVENT_BUS') }), telemetry);

export const gitRepositories = (): Repositories => createRepositories();

/** A key in the environment wins over one in Secrets Manager. */
const e2bApiKey = ({ env, clock }: Runtime): (() => Promise<string>) => {
  const given = optional(env, 'E2B_API_KEY');
  if (given !== undefined) return async () => given;
  const secret = optional(env, 'E2B_API_KEY_SECRET_ARN');
  if (secret !== undefined) return createSecret(secret, { now: () => clock.now().getTime() });
  throw new WalkbackError(
    'ConfigurationError',
    'Neither E2B_API_KEY nor E2B_API_KEY_SECRET_ARN is set in the environment.',
    { details: { name: 'E2B_API_KEY' } },
  );
};

/** Looks for the key at once, so that a missing one is told before anything begins. */
export const e2bSandboxes = async (runtime: Runtime): Promise<Sandboxes> => {
  const { env } = runtime;
  const apiKey = e2bApiKey(runtime);
  await apiKey();
  return createRotatingSandboxes({
    apiKey,
    apiUrl: optional(env, 'E2B_API_URL'),
    sandboxUrl: optional(env, 'E2B_SANDBOX_URL'),
    domain: optional(env, 'E2B_DOMAIN'),
  });
};

/** What the operations that capture and restore have in common. */
export const checkpointPorts = async (runtime: Runtime) => ({
  ...runtime,
  store: sessionStore(runtime),
  bundles: bundleStore(runtime),
  repositories: gitRepositories(),
  sandboxes: await e2bSandboxes(runtime),
});
