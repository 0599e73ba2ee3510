/** The files of the program of the sandbox, each by itself, as a script for bash reads them. */
import { join } from 'node:path';
import { readProgramBuild } from '../../adapters/git/program/build.ts';
import { createSandboxProgram, type SandboxProgram } from '../../adapters/git/program/call.ts';
import { shellWord } from '../../cli/options.ts';

const SANDBOX = join(import.meta.dirname, '../../sandbox');

/** `names`: as `shared/lib`, in this order. */
export const sourced = (...names: string[]): string =>
  names.map((name) => `. ${shellWord(join(SANDBOX, `${name}.sh`))}\n`).join('');

/** The native program, started where it lies: sandboxes of tests are directories of this machine. */
export const programHere = (): SandboxProgram => createSandboxProgram(readProgramBuild(), true);

/** The native program, sent to the sandbox as to one of E2B. */
export const programSent = (): SandboxProgram => createSandboxProgram(readProgramBuild());
