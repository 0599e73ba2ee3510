/**
 * Makes and removes the directory of a sandbox. A mounted host directory is reached by a symlink and belongs
 * to its owner: no deletion here ever follows that link.
 */
import { lstat, mkdir, rename, rm, rmdir, stat, symlink, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, posix } from 'node:path';
import { HOME, isInside } from './paths.ts';

export interface Mount {
  path: string;
  directory: string;
}

/** A request that cannot be met. The control plane answers 400. */
export class MountError extends Error {
  override readonly name = 'MountError';
}

const checkMount = async ({ path, directory }: Mount): Promise<void> => {
  if (!path.startsWith('/') || path === '/' || posix.normalize(path) !== path || path.endsWith('/'))
    throw new MountError(`Mount at an absolute, normalised path below /, not at ${path}.`);
  const found = isAbsolute(directory) ? await stat(directory).catch(() => undefined) : undefined;
  if (found?.isDirectory() !== true)
    throw new MountError(`A local volume is named by an existing absolute directory, not ${directory}.`);
};

/** Throws `MountError` unless every mount names a directory and none lies inside another. */
export const checkMounts = async (mounts: readonly Mount[]): Promise<void> => {
  for (const mount of mounts) {
    await checkMount(mount);
    if (mounts.some((other) => other !== mount && isInside(mount.path, other.path)))
      throw new MountError(`${mount.path} lies inside another mount.`);
  }
};

const link = async (rootfs: string, mount: Mount): Promise<void> => {
  const at = join(rootfs, mount.path);
  await mkdir(dirname(at), { recursive: true });
  // Only an empty directory is replaced: a mount hides nothing.
  await rmdir(at).catch(() => undefined);
  await symlink(mount.directory, at, 'dir').catch((cause: unknown) => {
    throw new MountError(`Nothing can be mounted at ${mount.path}, which is in use.`, { cause });
  });
};

/** `rootfs` with a home, a temporary directory and the mounts. */
export const createRootfs = async (rootfs: string, mounts: readonly Mount[]): Promise<void> => {
  await mkdir(join(rootfs, HOME), { recursive: true });
  await mkdir(join(rootfs, 'tmp'), { recursive: true });
  for (const mount of mounts) await link(rootfs, mount);
};

const unlinkMount = async (at: string): Promise<void> => {
  const found = await lstat(at).catch(() => undefined);
  if (found?.isSymbolicLink() === true) await unlink(at);
};

/** Prefix of directories that are being deleted. At the next start, leftovers of a crash are removed. */
export const DELETED = '.deleted-';

export const removeSandboxDirectory = async (
  dataDir: string,
  name: string,
  mounts: readonly Mount[],
): Promise<void> => {
  for (const mount of mounts) await unlinkMount(join(dataDir, name, 'rootfs', mount.path));
  const deleted = join(dataDir, `${DELETED}${name}`);
  // If somebody deleted it by hand, nothing is left to do.
  await rename(join(dataDir, name), deleted).catch(() => undefined);
  if (await lstat(join(dataDir, name)).catch(() => undefined))
    throw new Error(`${name} could not be moved away.`);
  await rm(deleted, { recursive: true, force: true, maxRetries: 3 });
};
