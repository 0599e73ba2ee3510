/** Runs a command of Walkback in the sandbox, with all that must be there before. */
import type { CommandOptions, ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { type Started, startProgram } from './deliver-program.ts';
import type { Script } from './script.ts';

/** A script whose files may also be bytes. */
export type RunnableScript = Pick<Script, 'command' | 'program'> & {
  files: { path: string; data: Uint8Array | string }[];
};

/** One round trip; one more for its files; more where its program is not in the sandbox (deliver-program.ts). */
export const runScript = async (
  sandbox: ExecutionAdapter,
  { command, program, files }: RunnableScript,
  options: CommandOptions & { cwd: string },
): Promise<Started> => {
  if (files.length > 0) await sandbox.writeFiles(files);
  const { result, roundTrips } =
    program === undefined
      ? { result: await sandbox.run(command, options), roundTrips: 1 }
      : await startProgram(sandbox, program, command, options);
  return { result, roundTrips: roundTrips + Number(files.length > 0) };
};
