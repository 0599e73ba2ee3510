/**
 * Git inside a sandbox, by commands of the sandbox program that each handle every repository in one round trip. It needs in the
 * sandbox: git 2.25; where it has curl, bundles over the inline size do not go through this process.
 */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import { OUTPUT_BYTES } from './announced.ts';
import { createInspection } from './inspect.ts';
import { LINK_LIMITS, type LinkLimits } from './join-links.ts';
import { createLeftovers } from './leftovers.ts';
import { createBlaming } from './program/blame.ts';
import type { SandboxProgram } from './program/call.ts';
import { createCapture } from './program/capture.ts';
import { createCompose } from './program/compose.ts';
import { createLateCapture, createLateStored } from './program/late.ts';
import { createLooseFiles } from './program/loose-files.ts';
import { createRestore } from './program/restore.ts';
import { release } from './release.ts';

export interface GitLimits {
  /** Bundles up to this many bytes together come back inside the command's own output: one round trip. */
  outputBytes: number;
  links: LinkLimits;
}

const GIT_LIMITS: GitLimits = { outputBytes: OUTPUT_BYTES, links: LINK_LIMITS };

export const createRepositories = (program: SandboxProgram, limits: GitLimits = GIT_LIMITS): Repositories => {
  const capture = createCapture(program, limits.outputBytes);
  const captureLate = createLateCapture(program, limits.outputBytes);
  return {
    ...createInspection(program),
    ...createBlaming(program),
    countLooseFiles: createLooseFiles(program),
    capture: (sandbox, request, ...more) =>
      (request.late === true ? captureLate : capture)(sandbox, request, ...more),
    lateStored: createLateStored(program),
    release,
    leftovers: createLeftovers(program),
    compose: createCompose(program, limits.outputBytes, limits.links),
    ...createRestore(program, limits.links),
  };
};
