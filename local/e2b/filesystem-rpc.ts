/** The remote procedures of `filesystem.Filesystem`. */
import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir, readlink, rm } from 'node:fs/promises';
import { basename, posix } from 'node:path';
import * as z from 'zod';
import { ConnectFailure, parseJson } from './connect-rpc.ts';
import { holdsMount, normalise, resolveEntry, resolvePath } from './paths.ts';
import type { Sandbox } from './registry.ts';

const pathRequest = z.object({ path: z.string().min(1), depth: z.int().min(0).max(100).default(1) });
type PathRequest = z.infer<typeof pathRequest>;

const typeOf = (found: Stats): string => {
  if (found.isDirectory()) return 'FILE_TYPE_DIRECTORY';
  if (found.isSymbolicLink()) return 'FILE_TYPE_SYMLINK';
  return 'FILE_TYPE_FILE';
};

const lookUp = async (sandbox: Sandbox, path: string): Promise<{ file: string; found: Stats }> => {
  // A mount is shown as the directory it stands for.
  const mounted = sandbox.root.mounts.some((mount) => mount.path === normalise(path));
  const file = await (mounted ? resolvePath : resolveEntry)(path, sandbox.root);
  const found = await lstat(file).catch((cause: unknown) => {
    throw new ConnectFailure('not_found', `path '${path}' does not exist`, { cause });
  });
  return { file, found };
};

const entryOf = async (sandbox: Sandbox, path: string): Promise<Record<string, unknown>> => {
  const { file, found } = await lookUp(sandbox, path);
  return {
    name: basename(normalise(path)),
    path: normalise(path),
    type: typeOf(found),
    size: String(found.size),
    mode: found.mode & 0o7777,
    permissions: (found.mode & 0o777).toString(8),
    owner: String(found.uid),
    group: String(found.gid),
    modifiedTime: found.mtime.toISOString(),
    ...(found.isSymbolicLink() ? { symlinkTarget: await readlink(file) } : {}),
  };
};

const listEntries = async (
  sandbox: Sandbox,
  path: string,
  depth: number,
): Promise<Record<string, unknown>[]> => {
  const directory = await resolvePath(path, sandbox.root);
  const names = await readdir(directory).catch((cause: unknown) => {
    throw new ConnectFailure('not_found', `directory '${path}' can not be listed`, { cause });
  });
  const entries: Record<string, unknown>[] = [];
  for (const name of names.sort()) {
    const child = posix.join(normalise(path), name);
    const entry = await entryOf(sandbox, child);
    entries.push(entry);
    if (depth > 1 && entry['type'] === 'FILE_TYPE_DIRECTORY')
      entries.push(...(await listEntries(sandbox, child, depth - 1)));
  }
  return entries;
};

const makeDirectory = async (sandbox: Sandbox, path: string): Promise<void> => {
  const directory = await resolvePath(path, sandbox.root);
  const found = await lstat(directory).catch(() => undefined);
  if (found?.isDirectory() === true)
    throw new ConnectFailure('already_exists', `directory '${path}' already exists`);
  if (found !== undefined) throw new ConnectFailure('invalid_argument', `path '${path}' is not a directory`);
  await mkdir(directory, { recursive: true });
};

const remove = async (sandbox: Sandbox, path: string): Promise<void> => {
  if (holdsMount(path, sandbox.root))
    throw new ConnectFailure('permission_denied', `'${path}' holds a mounted directory and is not removed`);
  await rm(await resolveEntry(path, sandbox.root), { recursive: true, force: true });
};

const answer = async (method: string, sandbox: Sandbox, { path, depth }: PathRequest): Promise<unknown> => {
  switch (method) {
    case 'Stat':
      return { entry: await entryOf(sandbox, path) };
    case 'ListDir':
      return { entries: await listEntries(sandbox, path, depth) };
    case 'MakeDir':
      await makeDirectory(sandbox, path);
      return { entry: await entryOf(sandbox, path) };
    case 'Remove':
      await remove(sandbox, path);
      return {};
    default:
      throw new ConnectFailure('unimplemented', `filesystem.Filesystem/${method} is not supported locally`);
  }
};

export const filesystemCall = async (
  method: string,
  sandbox: Sandbox,
  request: Request,
): Promise<Response> => {
  const parsed = pathRequest.safeParse(parseJson(await request.text()));
  if (!parsed.success) throw new ConnectFailure('invalid_argument', z.prettifyError(parsed.error));
  return Response.json(await answer(method, sandbox, parsed.data));
};
