/**
 * What is asked about a sandbox as a place to work in (`adapters/git/workspace.ts`). Its answers are claims
 * (C10).
 */
import type { ExecutionAdapter } from './sandbox.ts';

export interface SandboxFacts {
  /** What `git --version` wrote; empty without git. */
  git: string;
  user: string;
  hasCurl: boolean;
  /** `at`: where the command is; null when it is not there. */
  needs: { tool: string; at: string | null }[];
  root: 'directory' | 'missing' | 'other';
  /** The directory in which a missing root could be made; null when there is none. */
  canMakeIn: string | null;
  isWritable: boolean;
  hasTemporary: boolean;
  /** Free space of the file system below the projects root; null when the sandbox did not say. */
  freeBytes: number | null;
  freeInodes: number | null;
  /** The first files that the user cannot read. */
  unreadable: string[];
}

/** How a repository's origin answered a request that could not ask for credentials. */
export interface RemoteFacts {
  /** The URL without its credentials. */
  url: string;
  exitCode: number;
  said: string;
}

/** How a command ended. */
export type CommandReport =
  | { kind: 'no-directory' }
  | {
      kind: 'ended';
      exitCode: number;
      milliseconds: number;
      /** The command's output; `tail` when the middle is missing. */
      output: string;
      tail?: string;
    };

export interface Workspaces {
  look(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; needs: readonly string[]; timeoutMs: number },
  ): Promise<SandboxFacts>;
  /** `paths`: repositories, relative to the projects root. */
  askRemotes(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; paths: readonly string[]; timeoutMs: number },
  ): Promise<RemoteFacts[]>;
  /**
   * Runs one command like an agent's commands. A command that takes longer is ended, with every process in
   * its group.
   */
  runCommand(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; command: string; directory: string; seconds: number },
  ): Promise<CommandReport>;
}
