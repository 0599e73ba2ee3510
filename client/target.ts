/** Where the functions run, decided from the environment alone. The command decides by the same rules. */
import { isAbsolute, join, resolve } from 'node:path';
import { choiceOf } from '../core/shared/choice.ts';
import { homeDirectory } from '../kit/machine-user.ts';
import { errors } from './errors.ts';

export type Target =
  /** The deployed functions. `because` names the variable that says so. */
  | { kind: 'aws'; because: string }
  /** Endpoints of an embedded cloud that the environment names (the `export` lines of `walkback up`). */
  | { kind: 'environment'; endpoint: string }
  /** The embedded cloud over this data directory. */
  | { kind: 'local'; dataDir: string };

export type Environment = Readonly<Record<string, string | undefined>>;

const AWS_VARIABLES = [
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
];

const isSet = (env: Environment, name: string): boolean => (env[name] ?? '') !== '';

const isAddress = (url: string): boolean => /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '');

const isLoopback = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
};

/** The requested directory, else `WALKBACK_DATA`, else the XDG state directory. Always absolute. */
export const dataDirFor = (data: string | undefined, env: Environment, cwd: string): string => {
  const asked = data ?? env['WALKBACK_DATA'];
  if (asked !== undefined && asked !== '') return resolve(cwd, asked);
  const state = env['XDG_STATE_HOME'];
  // The XDG specification says that relative paths must be ignored.
  if (state !== undefined && isAbsolute(state)) return join(state, 'walkback');
  const home = homeDirectory();
  if (home !== undefined) return resolve(cwd, home, '.local', 'state', 'walkback');
  throw new errors.ConfigurationError(
    'No home directory is known: set HOME, or name a data directory with WALKBACK_DATA.',
  );
};

/**
 * In this order: loopback endpoints in the environment, a data directory in the environment, the usual AWS
 * environment, and by default the embedded cloud.
 */
export const targetOf = (env: Environment, cwd: string): Target => {
  const name = isSet(env, 'AWS_ENDPOINT_URL_LAMBDA') ? 'AWS_ENDPOINT_URL_LAMBDA' : 'AWS_ENDPOINT_URL';
  const endpoint = env[name] ?? '';
  if (endpoint !== '' && !isAddress(endpoint)) {
    throw new errors.ConfigurationError(
      `${name} is no address of http or https: set it to one, as walkback env prints it, or unset it.`,
    );
  }
  if (isLoopback(endpoint)) return { kind: 'environment', endpoint };
  const because = isSet(env, 'WALKBACK_DATA') ? undefined : AWS_VARIABLES.find((one) => isSet(env, one));
  return because === undefined
    ? { kind: 'local', dataDir: dataDirFor(undefined, env, cwd) }
    : { kind: 'aws', because };
};

/** Whether the embedded cloud is started in the background when none runs: `WALKBACK_DAEMON`. */
export const mayStartDaemon = (env: Environment): boolean =>
  choiceOf(env, 'WALKBACK_DAEMON', ['on', 'off'], (message) => new errors.ConfigurationError(message)) !==
  'off';
