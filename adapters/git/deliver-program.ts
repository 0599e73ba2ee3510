/**
 * Brings a program into a sandbox that does not fit into a command, and starts it there. The sandbox keeps the
 * program as a file named by its SHA-256, so it is sent once for each sandbox.
 *
 * 1. A program that is there is never sent again: a call asks for it first, and sends it only when it is not.
 * 2. A file has the program's name only when it is whole. It arrives under a name of its own call, is checked,
 *    and renamed. So calls at the same time do not disturb each other.
 * 3. A program that is gone, or is damaged, is sent again in the same call.
 */
import { randomBytes } from 'node:crypto';
import type { CommandOptions, CommandResult, ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { sha256Hex } from '../../core/shared/ids.ts';

/** Content for a sandbox. */
export interface Program {
  sha256: string;
  data: Uint8Array;
}

export const programOf = (data: Uint8Array): Program => ({ sha256: sha256Hex(data), data });

const DIRECTORY = '.agent-shadow/bin';

/** Where a command finds the program, from the directory in which it runs. */
export const programPath = ({ sha256 }: Program): string => `${DIRECTORY}/${sha256}`;

/** At most this much of a command is for what looks for the program and puts it into its place. */
export const PLACING_BYTES = 2048;

/** Something else may remove the file again and again; then the command says that it is not there. */
const UPLOADS = 2;

/** The exit status that a shell has for a command that is not there. */
const ABSENT = 127;

const absence = ({ sha256 }: Program): string => `walkback: the program ${sha256} is not in ${DIRECTORY}`;

const isAbsent = ({ exitCode, stderr }: CommandResult, program: Program): boolean =>
  exitCode === ABSENT && stderr.includes(absence(program));

/**
 * Lines of sh before a command: they end it where the program is not there. `arrived` is the name under which
 * it was sent. Programs that came more than a day ago go: a caller that still needs one sends it again.
 */
const requirePlaced = (program: Program, arrived: string | undefined): string => {
  const { sha256 } = program;
  const place =
    arrived === undefined
      ? 'false'
      : [
          `wb_whole ${arrived} && chmod 755 ${arrived} && { sync ${arrived} 2>/dev/null || :; }`,
          `mv -f ${arrived} ${programPath(program)}`,
          `{ find ${DIRECTORY} -type f ! -name ${sha256} -mtime +0 -exec rm -f {} + 2>/dev/null || :; }`,
        ].join(' && ');
  return [
    // Whatever is sent would be written to where it leads.
    `for wb_at in .agent-shadow ${DIRECTORY}; do [ ! -L "$wb_at" ] || { echo "walkback: $PWD/$wb_at is a symlink: remove it" >&2; exit 126; }; done`,
    `wb_whole() { [ -f "$1" ] && printf '${sha256}  %s\\n' "$1" | sha256sum -c >/dev/null; }`,
    `wb_whole ${programPath(program)} || { ${place}; } || { echo '${absence(program)}' >&2; exit ${ABSENT}; }`,
    ...(arrived === undefined ? [] : [`rm -f ${arrived}`]),
  ].join('\n');
};

export interface Started {
  result: CommandResult;
  roundTrips: number;
}

/**
 * Runs a command that starts this program, in the directory `cwd`. One round trip; three when the sandbox does
 * not have the program yet: the command that did not find it, the upload, and the command again.
 */
export const startProgram = async (
  sandbox: ExecutionAdapter,
  program: Program,
  command: string,
  options: CommandOptions & { cwd: string },
): Promise<Started> => {
  let result = await sandbox.run([requirePlaced(program, undefined), command].join('\n'), options);
  let roundTrips = 1;
  for (let upload = 0; upload < UPLOADS && isAbsent(result, program); upload++) {
    const arrived = `${programPath(program)}.${randomBytes(9).toString('hex')}`;
    await sandbox.writeFiles([{ path: `${options.cwd}/${arrived}`, data: program.data }]);
    result = await sandbox.run([requirePlaced(program, arrived), command].join('\n'), options);
    roundTrips += 2;
  }
  return { result, roundTrips };
};
