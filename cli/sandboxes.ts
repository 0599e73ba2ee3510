/** The embedded cloud's sandboxes as the commands see them: directories of this machine. */

import type { SandboxPlaces } from '../client/sandbox-places.ts';

export interface LocalSandboxes {
  /** Makes a sandbox that sees the directory under its own path, and lives until it is killed. */
  createOver(directory: string, tags: Record<string, string>): Promise<string>;
  /** Makes an empty sandbox, for an hour. */
  create(tags: Record<string, string>): Promise<string>;
  /** Runs a script in the sandbox; throws when it fails. */
  run(sandboxId: string, script: string, cwd?: string): Promise<void>;
  /** Where its files are on this machine. Throws `SandboxNotFound` when it is gone. */
  places(sandboxId: string): Promise<SandboxPlaces>;
  kill(sandboxId: string): Promise<boolean>;
}
