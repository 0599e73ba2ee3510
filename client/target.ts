/** Where the functions run, decided from the environment alone. The command decides by the same rules. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

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

const isLoopback = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
};

/** The directory that was asked for, `WALKBACK_DATA`, else the XDG state directory. Always absolute. */
export const dataDirFor = (data: string | undefined, env: Environment, cwd: string): string => {
  const asked = data ?? env['WALKBACK_DATA'];
  if (asked !== undefined && asked !== '') return resolve(cwd, asked);
  const state = env['XDG_STATE_HOME'];
  // The XDG specification tells to ignore relative paths.
  const base = state !== undefined && isAbsolute(state) ? state : join(homedir(), '.local', 'state');
  return join(base, 'walkback');
};

/**
 * Loopback endpoints in the environment, a data directory in the environment, the usual AWS environment, and by
 * default the embedded cloud.
 */
export const targetOf = (env: Environment, cwd: string): Target => {
  const local: Target = { kind: 'local', dataDir: dataDirFor(undefined, env, cwd) };
  const endpoint = env['AWS_ENDPOINT_URL_LAMBDA'] ?? env['AWS_ENDPOINT_URL'];
  if (endpoint !== undefined && isLoopback(endpoint)) return { kind: 'environment', endpoint };
  if (isSet(env, 'WALKBACK_DATA')) return local;
  const because = AWS_VARIABLES.find((name) => isSet(env, name));
  return because === undefined ? local : { kind: 'aws', because };
};
