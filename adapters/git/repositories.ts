/**
 * Git inside a sandbox, by commands that each handle every repository in one round trip. Needs in the sandbox: bash 4.4,
 * git 2.25, GNU coreutils and findutils, flock, gzip; curl for bundles over the inline size.
 */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { createCapture, lateStored } from './capture.ts';
import { OUTPUT_BYTES } from './capture-command.ts';
import { createCompose } from './compose.ts';
import { createInspection } from './inspect.ts';
import { LINK_LIMITS, type LinkLimits } from './join-links.ts';
import { leftovers } from './leftovers.ts';
import type { SandboxProgram } from './program/call.ts';
import { release } from './release.ts';
import { createRestore } from './restore.ts';

export interface GitLimits {
  /** Bundles up to this many bytes together come back inside the command's own output: one round trip. */
  outputBytes: number;
  links: LinkLimits;
}

const GIT_LIMITS: GitLimits = { outputBytes: OUTPUT_BYTES, links: LINK_LIMITS };

export const createRepositories = (
  program: SandboxProgram,
  limits: GitLimits = GIT_LIMITS,
): Repositories => ({
  ...createInspection(program),
  capture: createCapture(limits.outputBytes),
  lateStored,
  release,
  leftovers,
  compose: createCompose(limits.outputBytes, limits.links),
  ...createRestore(limits.links),
});
