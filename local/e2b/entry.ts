/** Describes one file, directory or link as the daemon does. */
import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { ConnectFailure } from './connect-rpc.ts';
import { isMissing, words } from './errno.ts';
import { expand, nameInside, normalise, resolveEntry, resolvePath } from './paths.ts';
import type { Sandbox } from './registry.ts';

const typeOf = (found: Stats): string | undefined => {
  if (found.isDirectory()) return 'FILE_TYPE_DIRECTORY';
  return found.isFile() ? 'FILE_TYPE_FILE' : undefined;
};

const LETTERS = 'rwxrwxrwx';

/** A mode as Go writes it: the type, the special bits, and the permissions. */
const permissionsOf = (found: Stats): string => {
  const kind = [
    found.isDirectory() && 'd',
    found.isSymbolicLink() && 'L',
    found.isBlockDevice() && 'D',
    found.isCharacterDevice() && 'Dc',
    found.isFIFO() && 'p',
    found.isSocket() && 'S',
    (found.mode & 0o4000) !== 0 && 'u',
    (found.mode & 0o2000) !== 0 && 'g',
    (found.mode & 0o1000) !== 0 && 't',
  ].filter((letter) => letter !== false);
  const bits = LETTERS.split('').map((letter, n) => ((found.mode >> (8 - n)) & 1 ? letter : '-'));
  return (kind.join('') || '-') + bits.join('');
};

const lookUp = async (sandbox: Sandbox, path: string): Promise<{ file: string; found: Stats }> => {
  // A mount is shown as the directory that it stands for.
  const mounted = sandbox.root.mounts.some((mount) => mount.path === normalise(path));
  try {
    const file = await (mounted ? resolvePath : resolveEntry)(path, sandbox.root);
    return { file, found: await lstat(file) };
  } catch (error) {
    if (error instanceof ConnectFailure) throw error;
    const what = `lstat ${path}: ${words(error)}`;
    if (isMissing(error)) throw new ConnectFailure('not_found', `file not found: ${what}`);
    throw new ConnectFailure('internal', `error getting file info: ${what}`);
  }
};

/** Where a link leads: the target's name in the sandbox, or the link itself when it leads nowhere there. */
const targetOf = async (sandbox: Sandbox, file: string, path: string) => {
  const real = await realpath(file).catch(() => undefined);
  const symlinkTarget = real === undefined ? undefined : await nameInside(real, sandbox.root);
  if (real === undefined || symlinkTarget === undefined) return { symlinkTarget: path };
  return { symlinkTarget, target: await stat(real).catch(() => undefined) };
};

/** Fields with the value zero are left out, as in all of the daemon's answers. */
export const describeEntry = async (sandbox: Sandbox, given: string): Promise<Record<string, unknown>> => {
  const path = expand(given);
  const { file, found } = await lookUp(sandbox, path);
  const link = found.isSymbolicLink() ? await targetOf(sandbox, file, path) : undefined;
  const meant = link === undefined ? found : link.target;
  const type = meant && typeOf(meant);
  const mode = (meant?.mode ?? 0) & 0o777;
  return {
    name: posix.basename(path),
    ...(type && { type }),
    path,
    ...(found.size > 0 && { size: String(found.size) }),
    ...(mode > 0 && { mode }),
    permissions: permissionsOf(found),
    owner: String(found.uid),
    group: String(found.gid),
    modifiedTime: found.mtime.toISOString(),
    ...(link && { symlinkTarget: link.symlinkTarget }),
  };
};
