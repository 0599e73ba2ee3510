/** The embedded cloud's sandboxes as the commands see them: directories of this machine. */

export interface SandboxPlaces {
  /** Directory on this machine that is the sandbox's `/`. */
  rootfs: string;
  /** Path in the sandbox -> directory on this machine. */
  mounts: Record<string, string>;
}

export interface LocalSandboxes {
  /** A sandbox that sees the directory under its own path, and lives until it is killed. */
  createOver(directory: string, tags: Record<string, string>): Promise<string>;
  /** An empty sandbox, for an hour. */
  create(tags: Record<string, string>): Promise<string>;
  /** Runs a script in it; throws when it fails. */
  run(sandboxId: string, script: string, cwd?: string): Promise<void>;
  /** Where its files are on this machine. `SandboxNotFound` when it is gone. */
  places(sandboxId: string): Promise<SandboxPlaces>;
  kill(sandboxId: string): Promise<boolean>;
}

/** The directory on this machine that a path in the sandbox is. */
export const placeOf = (places: SandboxPlaces, path: string): string =>
  places.mounts[path] ?? `${places.rootfs.replace(/\/$/, '')}${path}`;
