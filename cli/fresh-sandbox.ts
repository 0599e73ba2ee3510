/** What commands that make a sandbox share: how it is made, how long it lives, and where it is. */

import type { Command } from 'commander';
import { directoryIn } from '../client/sandbox-places.ts';
import { DAY_MS, DAY_SECONDS } from '../contract/times.ts';
import type { Run } from './app.ts';
import { parseId, parseWholeNumber } from './options.ts';

export interface FreshSandboxOptions {
  request?: string;
  template?: string;
  /** Seconds. */
  timeout?: number;
}

/** On this machine a sandbox costs only disk space, so it lives as long as one can. */
const LONGEST_MS = DAY_MS;

export const withFreshSandbox = (command: Command): Command =>
  command
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .option('--template <name>', "sandbox template (default: the session's)")
    .option(
      '--timeout <seconds>',
      'how long the sandbox lives (default: 1 h, locally 24 h)',
      parseWholeNumber(10, DAY_SECONDS),
    );

const lifetimeMs = (run: Run, timeout: number | undefined): number | undefined => {
  if (timeout !== undefined) return timeout * 1000;
  return run.sandboxes === undefined ? undefined : LONGEST_MS;
};

export const freshSandboxInput = (run: Run, { template, timeout }: FreshSandboxOptions) => {
  const timeoutMs = lifetimeMs(run, timeout);
  return {
    ...(template === undefined ? {} : { template }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
};

/** On this machine: the directory that is the sandbox. */
export const directoryOf = async (
  run: Run,
  sandboxId: string,
  projectsRoot: string,
): Promise<string | undefined> =>
  run.sandboxes === undefined ? undefined : directoryIn(await run.sandboxes.places(sandboxId), projectsRoot);
