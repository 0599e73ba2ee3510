/** Directories of this machine as sandboxes of the embedded cloud: one request of E2B's REST API. */
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { homeDirectory } from '../kit/machine-user.ts';
import type { SandboxApi } from './connect.ts';
import { errors } from './errors.ts';
import { requestHere } from './loopback-request.ts';
import type { SandboxPlaces } from './sandbox-places.ts';

/**
 * Resolves `~` and relative paths as a shell does. Throws `ProjectsRootNotFound` when the result is not a
 * directory.
 */
export const realDirectory = async (given: string): Promise<string> => {
  const path =
    given === '~' || given.startsWith('~/') ? join(homeDirectory() ?? '~', given.slice(1)) : resolve(given);
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isDirectory() !== true) {
    throw new errors.ProjectsRootNotFound(
      `${path} ${facts === undefined ? 'does not exist' : 'is not a directory'}.`,
    );
  }
  const real = await realpath(path);
  if (real === '/') throw new errors.InvalidInput('root must not be the root of the file system.');
  return real;
};

interface Answered {
  status: number;
  /** Undefined when it is no JSON. */
  answer: unknown;
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

const request = async (api: SandboxApi, method: string, path: string, body?: unknown): Promise<Answered> => {
  const headers = { 'X-API-KEY': api.apiKey, 'content-type': 'application/json' };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    const answered = await requestHere(new URL(path, api.url), { method, headers, ...given });
    return { status: answered.status, answer: parsed(answered.body) };
  } catch (cause) {
    throw new errors.CloudUnavailable(`The embedded cloud cannot be reached at ${api.url}.`, { cause });
  }
};

const hasId = (value: unknown): value is { sandboxID: string } =>
  typeof value === 'object' && value !== null && 'sandboxID' in value && typeof value.sandboxID === 'string';

/** Makes a sandbox that sees the directory under its own path, and lives until it is killed. */
export const createOver = async (api: SandboxApi, directory: string): Promise<string> => {
  const volumeMounts = [{ name: directory, path: directory }];
  const { status, answer } = await request(api, 'POST', '/v2/sandboxes', { volumeMounts });
  if (status === 201 && hasId(answer)) return answer.sandboxID;
  throw new errors.CloudUnavailable(
    `The embedded cloud made no sandbox over ${directory}: ${status} ${JSON.stringify(answer)}`,
  );
};

/** Removes the record of the mount. The directory stays. */
export const forget = async (api: SandboxApi, sandboxId: string): Promise<void> => {
  await request(api, 'DELETE', `/sandboxes/${encodeURIComponent(sandboxId)}`);
};

const isPlaces = (value: unknown): value is SandboxPlaces =>
  typeof value === 'object' &&
  value !== null &&
  'rootfs' in value &&
  typeof value.rootfs === 'string' &&
  'mounts' in value &&
  typeof value.mounts === 'object' &&
  value.mounts !== null;

/** Undefined when the sandbox is gone. */
export const placesOf = async (api: SandboxApi, sandboxId: string): Promise<SandboxPlaces | undefined> => {
  const { status, answer } = await request(api, 'GET', `/local/sandboxes/${encodeURIComponent(sandboxId)}`);
  if (status === 404) return undefined;
  if (status === 200 && isPlaces(answer)) return answer;
  throw new errors.CloudUnavailable(
    `The embedded cloud does not say where ${sandboxId} works: ${status} ${JSON.stringify(answer)}`,
  );
};

/** Whether the sandbox exists and works in the directory itself, not in a copy below the data directory. */
export const isOver = async (api: SandboxApi, sandboxId: string, directory: string): Promise<boolean> =>
  (await placesOf(api, sandboxId))?.mounts[directory] === directory;
