/**
 * The environment of all functions of one cloud. When deployed, every function has a process of its own. Here
 * they share ours, and the SDKs read `process.env` at any time. So one cloud at a time owns it, from start to
 * close.
 */
import { WalkbackError } from '../../core/shared/errors.ts';

/**
 * Variables that are removed:
 *
 * - those that could make an SDK use something other than this cloud (a profile, a config file, an instance's
 *   role);
 * - the E2B key, which deployed functions fetch as a secret;
 * - the settings for signing people in;
 * - the mark that lets a tool end its process when a call does not stop, because here all functions share one
 *   process.
 */
const UNSET = [
  'AWS_LAMBDA_RUNTIME_API',
  'AWS_PROFILE',
  'AWS_DEFAULT_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_USE_DUALSTACK_ENDPOINT',
  'AWS_USE_FIPS_ENDPOINT',
  'E2B_API_KEY',
  'E2B_DEBUG',
  'E2B_DOMAIN',
  'E2B_ACCESS_TOKEN',
  'WALKBACK_LOGIN_SECRET',
];
const HERMETIC = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** Functions, and the tools of anyone who tries things out, are all on this host. */
const LOCAL = { WALKBACK_LOOPBACK_TOOLS: 'allowed' };

/**
 * Used unless the user set them. stdout belongs to the program that embeds the cloud, and errors inside go to
 * stderr.
 */
const QUIET = {
  POWERTOOLS_LOG_LEVEL: 'ERROR',
  POWERTOOLS_METRICS_DISABLED: 'true',
  POWERTOOLS_TRACE_ENABLED: 'false',
  // Nothing is traced here, but without this the X-Ray SDK would still follow every promise of this process.
  AWS_XRAY_MANUAL_MODE: 'true',
};

export interface FunctionEnvironment {
  /** Changes some variables until the environment is removed. */
  set(variables: Record<string, string>): void;
  /** Restores the former values. */
  remove(): void;
}

let owned = false;

/** Throws `ConfigurationError` when another cloud of this process has not been closed. */
export const installEnvironment = (variables: Record<string, string>): FunctionEnvironment => {
  if (owned) {
    throw new WalkbackError(
      'ConfigurationError',
      'another cloud runs in this process, and functions share its environment; close that one first',
    );
  }
  owned = true;
  const before = new Map<string, string | undefined>();
  const put = (name: string, value: string | undefined): void => {
    if (!before.has(name)) before.set(name, process.env[name]);
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  const set = (more: Record<string, string>): void => {
    for (const [name, value] of Object.entries(more)) put(name, value);
  };
  for (const name of UNSET) put(name, undefined);
  const quiet = Object.entries(QUIET).filter(([name]) => process.env[name] === undefined);
  set({ ...Object.fromEntries(quiet), ...HERMETIC, ...LOCAL, ...variables });
  return {
    set,
    remove: () => {
      for (const [name, value] of before) put(name, value);
      owned = false;
    },
  };
};
