/** What is asked of a sandbox as a place to work in (`adapters/git/workspace.ts`). Its answers are claims (C10). */
import type { ExecutionAdapter } from './sandbox.ts';

export interface SandboxFacts {
  bash: string;
  /** What `git --version` wrote; empty without git. */
  git: string;
  user: string;
  /** Of the tools that Walkback needs. */
  missing: string[];
  hasGnuFind: boolean;
  /** `at`: where the command is; null when it is not there. */
  needs: { tool: string; at: string | null }[];
  root: 'directory' | 'missing' | 'other';
  /** Where a root that is missing could be made; null: nowhere. */
  canMakeIn: string | null;
  isWritable: boolean;
  hasTemporary: boolean;
  /** Of the file system below the projects root; null when it did not say. */
  freeBytes: number | null;
  freeInodes: number | null;
  /** The first files that the user cannot read. */
  unreadable: string[];
}

/** How the origin of a repository answered a request that could ask nobody anything. */
export interface RemoteFacts {
  /** Without credentials. */
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
      /** What it wrote; `tail` when the middle is missing. */
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
  /** Runs one command as an agent's commands run. One that takes longer is ended, with all that it started in its group. */
  runCommand(
    sandbox: ExecutionAdapter,
    request: { projectsRoot: string; command: string; directory: string; seconds: number },
  ): Promise<CommandReport>;
}
