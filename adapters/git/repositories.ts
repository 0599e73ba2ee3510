/**
 * Git inside a sandbox, by commands that each handle every repository in one round trip. The native program looks and
 * captures; the scripts restore, merge, and capture late writes. They need in the sandbox: bash 4.4, git 2.25, GNU
 * coreutils and findutils, flock, gzip; curl for bundles over the inline size.
 */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { blaming } from './blame.ts';
import { createLateCapture, lateStored } from './capture.ts';
import { OUTPUT_BYTES } from './capture-command.ts';
import { createCompose } from './compose.ts';
import { createInspection } from './inspect.ts';
import { LINK_LIMITS, type LinkLimits } from './join-links.ts';
import { createLeftovers } from './leftovers.ts';
import { countLooseFiles } from './loose-files.ts';
import type { SandboxProgram } from './program/call.ts';
import { createNativeCapture } from './program/capture.ts';
import { release } from './release.ts';
import { createRestore } from './restore.ts';

export interface GitLimits {
  /** Bundles up to this many bytes together come back inside the command's own output: one round trip. */
  outputBytes: number;
  links: LinkLimits;
}

const GIT_LIMITS: GitLimits = { outputBytes: OUTPUT_BYTES, links: LINK_LIMITS };

export const createRepositories = (program: SandboxProgram, limits: GitLimits = GIT_LIMITS): Repositories => {
  const capture = createNativeCapture(program, limits.outputBytes);
  const captureLate = createLateCapture(limits.outputBytes);
  return {
    ...createInspection(program),
    ...blaming,
    countLooseFiles,
    capture: (sandbox, request, ...more) =>
      (request.late === true ? captureLate : capture)(sandbox, request, ...more),
    lateStored,
    release,
    leftovers: createLeftovers(program),
    compose: createCompose(limits.outputBytes, limits.links),
    ...createRestore(limits.links),
  };
};
