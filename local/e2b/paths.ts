/**
 * Maps paths inside a sandbox to paths on this machine. `/x` is `<rootfs>/x`; below a mount it is the mounted
 * directory. Symlinks are followed only as long as they end inside the root or a mounted directory.
 */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, sep } from 'node:path';
import { ConnectFailure } from './connect-rpc.ts';

export interface SandboxRoot {
  /** Absolute directory that stands for `/`. */
  rootfs: string;
  mounts: readonly { path: string; directory: string }[];
}

export const HOME = '/home/user';

/** Absolute and without `.` or `..`; relative paths start at the user's home, as in E2B. */
export const normalise = (path: string): string => {
  if (path.includes('\0')) throw new ConnectFailure('invalid_argument', 'A path must not hold a zero byte.');
  return posix.resolve(HOME, path);
};

export const isInside = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Resolves symlinks of the part of a path that exists, and appends the rest. */
const resolveExisting = async (path: string): Promise<string> => {
  if (await exists(path)) return realpath(path);
  return join(await resolveExisting(dirname(path)), basename(path));
};

const denied = (path: string, cause?: unknown): ConnectFailure =>
  new ConnectFailure('permission_denied', `${path} leads out of the sandbox.`, { cause });

const unresolvable = (path: string, cause: unknown): ConnectFailure => {
  const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
  return missing
    ? new ConnectFailure('not_found', `${path} does not exist.`, { cause })
    : denied(path, cause);
};

/** A mounted directory that was deleted meanwhile stands for its own name. */
const realOrSame = (directory: string): Promise<string> => realpath(directory).catch(() => directory);

/** The host path of a file or directory, symlinks followed. Throws `permission_denied` when it is outside. */
export const resolvePath = async (path: string, { rootfs, mounts }: SandboxRoot): Promise<string> => {
  const real = await resolveExisting(join(rootfs, normalise(path))).catch((cause: unknown) => {
    throw unresolvable(path, cause);
  });
  const allowed = await Promise.all([rootfs, ...mounts.map(({ directory }) => directory)].map(realOrSame));
  if (!allowed.some((directory) => isInside(real, directory))) throw denied(path);
  return real;
};

/** Like `resolvePath`, but a symlink in the last place is meant itself. */
export const resolveEntry = async (path: string, root: SandboxRoot): Promise<string> => {
  const normal = normalise(path);
  if (normal === '/') return resolvePath(normal, root);
  return join(await resolvePath(dirname(normal), root), basename(normal));
};

/** True when removing `path` would take a mount point away. */
export const holdsMount = (path: string, root: SandboxRoot): boolean => {
  const normal = normalise(path);
  return normal === '/' || root.mounts.some((mount) => isInside(mount.path, normal));
};
