/** Where the files of a sandbox of the embedded cloud are. */
export interface SandboxPlaces {
  /** Directory on this machine that is the sandbox's `/`. */
  rootfs: string;
  /** Path in the sandbox -> directory on this machine. */
  mounts: Record<string, string>;
}

/** The directory on this machine that a path in the sandbox is. */
export const directoryIn = (places: SandboxPlaces, path: string): string =>
  places.mounts[path] ?? `${places.rootfs.replace(/\/$/, '')}${path}`;
