/** The remote procedures of `filesystem.Filesystem`. */
import { lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import * as z from 'zod';
import { ConnectFailure, parseJson } from './connect-rpc.ts';
import { ensureDirectories } from './directories.ts';
import { describeEntry } from './entry.ts';
import { codeOf, isMissing, words } from './errno.ts';
import { expand, holdsMount, resolveEntry, resolvePath } from './paths.ts';
import type { Sandbox } from './registry.ts';

const pathRequest = z.object({ path: z.string(), depth: z.int().min(0).max(100).default(1) });
const moveRequest = z.object({ source: z.string(), destination: z.string() });

/** Passes on our own errors, and words those of the system with `say`. */
const worded =
  (say: (error: unknown) => ConnectFailure) =>
  (error: unknown): never => {
    throw error instanceof ConnectFailure ? error : say(error);
  };

const internal = (before: string) =>
  worded((error) => new ConnectFailure('internal', `${before}${words(error)}`));

const followLinks = (path: string, sandbox: Sandbox): Promise<string> =>
  resolvePath(path, sandbox.root)
    .then((directory) => realpath(directory))
    .catch(
      worded((error) => {
        if (isMissing(error))
          return new ConnectFailure('not_found', `path not found: lstat ${path}: ${words(error)}`);
        if (codeOf(error) === 'ELOOP')
          return new ConnectFailure('failed_precondition', `cyclic symlink or chain >255 links at "${path}"`);
        return new ConnectFailure('internal', `error resolving symlink: ${words(error)}`);
      }),
    );

const walk = async (
  sandbox: Sandbox,
  path: string,
  directory: string,
  depth: number,
): Promise<Record<string, unknown>[]> => {
  const names = await readdir(directory).catch(internal(`error reading directory ${path}: open ${path}: `));
  const entries: Record<string, unknown>[] = [];
  for (const name of names.sort()) {
    const child = posix.join(path, name);
    const entry = await describeEntry(sandbox, child);
    entries.push(entry);
    const below = posix.join(directory, name);
    if (depth > 1 && (await lstat(below)).isDirectory())
      entries.push(...(await walk(sandbox, child, below, depth - 1)));
  }
  return entries;
};

const listEntries = async (sandbox: Sandbox, path: string, depth: number) => {
  const directory = await followLinks(path, sandbox);
  if (!(await stat(directory)).isDirectory())
    throw new ConnectFailure('invalid_argument', `path is not a directory: ${path}`);
  return walk(sandbox, path, directory, Math.max(1, depth));
};

const makeDirectory = async (sandbox: Sandbox, path: string): Promise<void> => {
  const found = await resolvePath(path, sandbox.root)
    .then((directory) => stat(directory))
    .catch((error: unknown) =>
      isMissing(error) ? undefined : internal(`error getting file info: stat ${path}: `)(error),
    );
  if (found?.isDirectory() === true)
    throw new ConnectFailure('already_exists', `directory already exists: ${path}`);
  if (found !== undefined)
    throw new ConnectFailure('invalid_argument', `path already exists but it is not a directory: ${path}`);
  await ensureDirectories(path, sandbox.root);
};

const refuseMount = (path: string, sandbox: Sandbox): void => {
  if (holdsMount(path, sandbox.root))
    throw new ConnectFailure('permission_denied', `'${path}' holds a mounted directory and is not removed`);
};

const remove = async (sandbox: Sandbox, path: string): Promise<void> => {
  refuseMount(path, sandbox);
  const say = internal(`error removing file or directory: unlinkat ${path}: `);
  const entry = await resolveEntry(path, sandbox.root).catch(say);
  await lstat(entry)
    .then(() => rm(entry, { recursive: true, force: true }))
    .catch((error: unknown) => (isMissing(error) ? undefined : say(error)));
};

const move = async (sandbox: Sandbox, source: string, destination: string): Promise<void> => {
  refuseMount(source, sandbox);
  refuseMount(destination, sandbox);
  await ensureDirectories(posix.dirname(destination), sandbox.root);
  const say = worded((error) => {
    const what = `rename ${source} ${destination}: ${words(error)}`;
    return isMissing(error)
      ? new ConnectFailure('not_found', `source file not found: ${what}`)
      : new ConnectFailure('internal', `error renaming: ${what}`);
  });
  const [from, to] = await Promise.all([source, destination].map((path) => resolveEntry(path, sandbox.root)));
  await rename(from ?? '', to ?? '').catch(say);
};

const parse = <T>(schema: z.ZodType<T>, text: string): T => {
  const parsed = schema.safeParse(parseJson(text));
  if (!parsed.success) throw new ConnectFailure('invalid_argument', z.prettifyError(parsed.error));
  return parsed.data;
};

const answer = async (method: string, sandbox: Sandbox, text: string): Promise<unknown> => {
  if (method === 'Move') {
    const { source, destination } = parse(moveRequest, text);
    await move(sandbox, expand(source), expand(destination));
    return { entry: await describeEntry(sandbox, destination) };
  }
  const { depth, ...given } = parse(pathRequest, text);
  const path = expand(given.path);
  switch (method) {
    case 'Stat':
      return { entry: await describeEntry(sandbox, path) };
    case 'ListDir':
      return { entries: await listEntries(sandbox, path, depth) };
    case 'MakeDir':
      await makeDirectory(sandbox, path);
      return { entry: await describeEntry(sandbox, path) };
    case 'Remove':
      await remove(sandbox, path);
      return {};
    default:
      throw new ConnectFailure('unimplemented', `filesystem.Filesystem/${method} is not supported locally`);
  }
};

export const filesystemCall = async (method: string, sandbox: Sandbox, request: Request): Promise<Response> =>
  Response.json(await answer(method, sandbox, await request.text()));
