/**
 * Maps paths inside a sandbox to paths on this machine. `/x` is `<rootfs>/x`; below a mount it is the mounted
 * directory. Symlinks are followed only as long as they end inside the root or a mounted directory.
 */
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve, sep } from 'node:path';
import { ConnectFailure } from './connect-rpc.ts';
import { isMissing } from './errno.ts';

export interface SandboxRoot {
  /** Absolute directory that stands for `/`. */
  rootfs: string;
  mounts: readonly { path: string; directory: string }[];
}

export const HOME = '/home/user';

/**
 * A path as the daemon names it in its answers: an absolute path unchanged, any other one from the user's
 * home.
 */
export const expand = (path: string): string => {
  if (path.startsWith('/')) return path;
  return posix.join(HOME, path === '~' || path.startsWith('~/') ? path.slice(1) : path);
};

/** Absolute and without `.` or `..`. */
export const normalise = (path: string): string => {
  if (path.includes('\0')) throw new ConnectFailure('invalid_argument', 'A path must not hold a zero byte.');
  return posix.resolve(HOME, expand(path));
};

export const isInside = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);

/** The same limit as in the kernel. */
const MAX_LINKS = 40;

/** Resolves symlinks in the part of a path that exists, even one that leads nowhere, and appends the rest. */
const resolveExisting = async (path: string, links = 0): Promise<string> => {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return join(await resolveExisting(dirname(path), links), basename(path));
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error) || !found.isSymbolicLink() || links >= MAX_LINKS) throw error;
    const parent = await realpath(dirname(path));
    return resolveExisting(resolve(parent, await readlink(path)), links + 1);
  }
};

/** A mounted directory that was deleted meanwhile keeps its own name. */
export const realOrSame = (directory: string): Promise<string> => realpath(directory).catch(() => directory);

/** The real locations of the sandbox's places: the host's directories, with their names inside. */
const places = ({ rootfs, mounts }: SandboxRoot): Promise<{ directory: string; path: string }[]> =>
  Promise.all(
    [...mounts, { directory: rootfs, path: '/' }].map(async ({ directory, path }) => ({
      directory: await realOrSame(directory),
      path,
    })),
  );

/**
 * The host path of a file or directory, with symlinks followed. Throws `permission_denied` when it is
 * outside, and the system's own error when the links lead nowhere.
 */
export const resolvePath = async (path: string, root: SandboxRoot): Promise<string> => {
  const real = await resolveExisting(join(root.rootfs, normalise(path)));
  if ((await places(root)).some(({ directory }) => isInside(real, directory))) return real;
  throw new ConnectFailure('permission_denied', `${path} leads out of the sandbox.`);
};

/** The name of a host path inside the sandbox, when it has one. */
export const nameInside = async (real: string, root: SandboxRoot): Promise<string | undefined> => {
  const place = (await places(root)).find(({ directory }) => isInside(real, directory));
  return place && posix.join(place.path, real.slice(place.directory.length));
};

/** Like `resolvePath`, but a symlink at the end is not followed. */
export const resolveEntry = async (path: string, root: SandboxRoot): Promise<string> => {
  const normal = normalise(path);
  if (normal === '/') return resolvePath(normal, root);
  return join(await resolvePath(dirname(normal), root), basename(normal));
};

/** Whether removing `path` would remove a mount point. */
export const holdsMount = (path: string, root: SandboxRoot): boolean => {
  const normal = normalise(path);
  return normal === '/' || root.mounts.some((mount) => isInside(mount.path, normal));
};
