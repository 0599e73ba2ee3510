/** The program of the sandbox, for sandboxes of tests. */
import { readProgramBuild } from '../../adapters/git/program/build.ts';
import { createSandboxProgram, type SandboxProgram } from '../../adapters/git/program/call.ts';
import { programAsAsked } from './traced-program.ts';

/** Started where it lies: sandboxes of tests are directories of this machine. */
export const programHere = (): SandboxProgram =>
  programAsAsked() ?? createSandboxProgram(readProgramBuild(), true);

/** Sent to the sandbox as to one of E2B. */
export const programSent = (): SandboxProgram => createSandboxProgram(readProgramBuild());
