/**
 * Builds a Walkback command for the sandbox: shared shell code, the values of this call as bash variables,
 * and the command itself, in one string that needs one round trip. A program that is too large for that is a
 * file of the sandbox (deliver-program.ts). Pure, except for reading the scripts in the folder `sandbox`. No
 * value may be secret: the sandbox's daemon logs commands.
 */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { MAX_COMMAND_BYTES } from '../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { PLACING_BYTES, type Program, programOf, programPath } from './deliver-program.ts';
import { quoteOddName } from './names.ts';
import { scriptDeadline } from './script-deadline.ts';

type Value = string | number | readonly string[];

const HOST = ['shared/lib', 'shared/host'];
/** How the scripts look at a repository, before and after a restore. */
const LOOK = [
  ...HOST,
  'shared/run',
  'shared/transfer',
  'shared/discovery',
  'shared/stash',
  'shared/torn',
  'capture/shadow',
  'capture/borrowed',
  'capture/working-tree',
  'capture/add',
  'capture/held',
  'capture/left-out',
  'capture/sparse',
  'capture/conversion',
  'capture/host-state',
  'capture/change-times',
  'capture/snapshot',
  'capture/sound',
];

const RESTORE = [
  ...LOOK,
  'shared/incoming',
  'restore/captured-state',
  'restore/objects-present',
  'restore/plan-host',
  'restore/parking',
  'restore/make-host',
  'restore/lost-stash',
  'restore/lost-filters',
  'restore/held-then',
  'restore/put-aside',
  'restore/asides',
  'restore/place-new',
  'restore/fill',
  'shared/unseen',
  'restore/keep-unseen',
  'restore/move-files',
  'restore/move-sidecar',
  'restore/host-links',
  'restore/host-locks',
  'restore/move-sparse',
  'restore/move-index',
  'restore/broken-refs',
  'restore/shared-refs',
  'restore/move-host',
  'restore/free-paths',
  'restore/restore-check',
  'restore/leave',
  'restore/vacated',
  'restore/restore-move',
  'restore/restore-verify',
  'shared/beside',
  'restore/arrival',
  'restore/came-back',
  'restore/contents',
  'restore/room',
  'restore/damaged',
  'restore/stage-aside',
  'restore/exposed',
  'restore/plan-paths',
];

/** The scripts of each command. `lib` runs before the values are known, and the last script calls `main`. */
export const COMMANDS = {
  restore: [...RESTORE, 'restore/mend-none', 'restore/restore'],
  settle: [...RESTORE, 'restore/mend-host', 'restore/mend', 'restore/restore'],
  late: [
    ...HOST,
    'shared/run',
    'shared/transfer',
    'shared/discovery',
    'shared/scratch',
    'capture/shadow',
    'restore/asides',
    'restore/captured-state',
    'restore/plan-host',
    'capture/changes',
    'capture/bundles',
    'restore/late',
  ],
  compose: [
    ...HOST,
    'shared/run',
    'shared/transfer',
    'shared/incoming',
    'shared/scratch',
    'shared/torn',
    'capture/shadow',
    'restore/captured-state',
    'restore/plan-host',
    'capture/changes',
    'capture/bundles',
    'shared/unseen',
    'merge/note',
    'merge/unseen',
    'merge/three-way',
    'merge/side-lists',
    'merge/nested',
    'merge/compose',
  ],
} satisfies Record<string, string[]>;

export type Command = keyof typeof COMMANDS;

/** When bundled, the program lies beside the code; otherwise in the folder `sandbox`. */
const PROGRAM = import.meta.url.endsWith('.ts') ? '../../sandbox' : './sandbox';

const scripts = new Map<string, string>();

const script = (name: string): string => {
  const known = scripts.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`${PROGRAM}/${name}.sh`, import.meta.url), 'utf8');
  scripts.set(name, text);
  return text;
};

/** Quotes any text for bash, byte for byte. Throws `InvalidInput` for NUL, which cannot be in a shell word. */
export const shellQuote = (text: string): string => {
  if (text.includes('\0'))
    throw new WalkbackError('InvalidInput', 'A path or pattern contains a NUL character. Remove it.');
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
};

/** A name of the sandbox as a word of bash, in its original bytes. */
export const nameWord = (name: string): string => quoteOddName(name) ?? shellQuote(name);

/** Variables that hold names of the sandbox, which need their original bytes. */
const HOLDS_NAMES = /(^|_)(PATHS?|SKIPPED)$/;

const assignment = (name: string, value: Value): string => {
  if (typeof value !== 'object') return `${name}=${shellQuote(String(value))}`;
  const isName = HOLDS_NAMES.test(name);
  const words = value.map((item) => (isName ? nameWord(item) : shellQuote(item)));
  return `${name}=(${words.join(' ')})`;
};

/** Assignments of the values, one per line. */
export const assignments = (values: Record<string, Value>): string =>
  Object.entries(values)
    .map(([name, value]) => assignment(name, value))
    .join('\n');

export interface Script {
  /** Ready for `bash -c`. */
  command: string;
  /** The command starts this program, which must be in the sandbox. */
  program?: Program;
  /** Files that must be in the sandbox before the command runs; mostly none. */
  files: { path: string; data: string }[];
  /** Stands around every answer of this call, and nowhere else in its output. */
  mark: string;
}

interface ScriptOptions {
  /** Must be random per call. */
  mark: string;
  timeoutMs: number;
  /** A file of this call alone for the values, when the command has no room for them. */
  spill?: Spill;
}

/**
 * The name of a file below the directory in which the command runs, and that directory as the files API knows
 * it.
 */
interface Spill {
  directory: string;
  name: string;
}

export const spillFor = (projectsRoot: string, sessionId: string, call: string): Spill => ({
  directory: projectsRoot,
  name: `.agent-shadow/in-${sessionId}/${call}.values`,
});

const fromFile = (name: string): string =>
  [
    `. ${shellQuote(`./${name}`)} || die SandboxUnavailable 'The arguments of this command did not arrive in the sandbox. Call again.'`,
    `rm -f -- ${shellQuote(name)}`,
  ].join('\n');

/**
 * Builds the command from its scripts, in order. The environment is emptied, except for what is needed to
 * find the user's own git configuration. `timeout` ends the whole process group before the deadline (see
 * script-deadline.ts).
 */
export const buildScript = (name: Command, values: Record<string, Value>, options: ScriptOptions): Script => {
  const assigned = assignments(values);
  const script = scriptWith(name, assigned, options);
  const { spill } = options;
  const short =
    spill === undefined || fits(script)
      ? script
      : {
          ...scriptWith(name, fromFile(spill.name), options),
          files: [{ path: `${spill.directory}/${spill.name}`, data: `${assigned}\n` }],
        };
  if (fits(short)) return short;
  throw new WalkbackError(
    'InvalidInput',
    'This session has too many repositories for one command. Split the projects root into several sessions.',
    { details: { commandBytes: Buffer.byteLength(short.command), maxBytes: MAX_COMMAND_BYTES } },
  );
};

const fits = ({ command, program }: Script): boolean =>
  Buffer.byteLength(command) + (program === undefined ? 0 : PLACING_BYTES) <= MAX_COMMAND_BYTES;

/** A program that takes more of a command, in base64, is a file. The rest is for the values of a call. */
const MAX_PROGRAM_BYTES = 78 * 1024;

/**
 * The part of a command that is the same for every call, compressed. The values are read where the first
 * script ends.
 */
const packedProgram = (name: Command): Program => {
  const known = programs.get(name);
  if (known !== undefined) return known;
  const [first = 'shared/lib', ...rest] = COMMANDS[name];
  const text = [script(first), '. /dev/fd/4', 'exec 3<&- 4<&-', ...rest.map((part) => script(part)), 'exit'];
  const packed = programOf(gzipSync(text.map((part) => withoutComments(part)).join('\n'), { level: 9 }));
  programs.set(name, packed);
  return packed;
};

const programs = new Map<Command, Program>();

const scriptWith = (name: Command, assigned: string, options: ScriptOptions): Script => {
  const end = `WALKBACK_${options.mark.replaceAll('-', '')}`;
  const { endsAfterMs, killAfterMs } = scriptDeadline(options.timeoutMs);
  const program = packedProgram(name);
  const text = Buffer.from(program.data).toString('base64');
  const isFile = text.length > MAX_PROGRAM_BYTES;
  const command = [
    ...(isFile
      ? [`exec 3< <(exec -c gzip -dc <${programPath(program)})`]
      : [`exec 3< <(exec -c base64 -d <<'${end}' | exec -c gzip -dc`, text, end, ')']),
    `( exec -c timeout -k ${killAfterMs / 1000} ${endsAfterMs / 1000} /bin/bash --noprofile --norc -c ${shellQuote(RUN)} walkback \\`,
    `  "$PATH" "$HOME" "\${GIT_CONFIG_GLOBAL-}" "\${XDG_CONFIG_HOME-}" ) 4<<'${end}' &`,
    assignments({ WB_MARK: options.mark }),
    assigned,
    end,
    'exec 3<&-',
    endOfGroup(killAfterMs),
  ].join('\n');
  return { command, files: [], mark: options.mark, ...(isFile && { program }) };
};

/**
 * The program is unpacked while `timeout` and bash start. All of it except the last lines is functions and
 * constants. So half a program does nothing except exit with 71.
 */
const RUN = '. /dev/fd/3; exit 71';

/**
 * `timeout` waits only for the shell that it started: a child that ignores the request to end would stay, and
 * keep what it holds. So here the group gets its time too, and is then killed. bash's messages about killed
 * jobs would repeat the whole script, so they are thrown away.
 */
const endOfGroup = (killAfterMs: number): string =>
  [
    'wb_group=$!',
    '{ wait "$wb_group"; wb_code=$?; } 2>/dev/null',
    'if [ "$wb_code" = 124 ]; then',
    `  for ((wb_n = 0; wb_n < ${Math.ceil(killAfterMs / 100)}; wb_n++)); do`,
    '    kill -0 -- "-$wb_group" 2>/dev/null || exit 124; sleep 0.1',
    '  done',
    '  kill -KILL -- "-$wb_group" 2>/dev/null',
    'fi',
    'exit "$wb_code"',
  ].join('\n');

/**
 * Whole-line comments and indentation are left out: they are for readers of the files, and the command's
 * length is limited.
 */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replace(/^ +/, ''))
    .filter((line) => !line.startsWith('#'))
    .join('\n');
