/**
 * The shell text that starts the native program. It is the only shell that a call needs, and asks nothing of it but
 * POSIX. Pure.
 */
import { MAX_COMMAND_BYTES } from '../../../core/checkpoint/ports/sandbox.ts';
import { shellQuote } from '../script.ts';
import { ARCHITECTURES, type Architecture, type ProgramBuild } from './build.ts';

/** The exit status of a call that found no program that can be started. */
export const ABSENT_EXIT = 127;

/** Where a template may have the program, under its digest. Nothing is installed there. */
const BAKED = '/opt/walkback';

/**
 * Where the program is installed under its digest: the user's cache, and where that cannot be written or started from,
 * the projects root. POSIX expansions.
 */
const PLACES = ['${XDG_CACHE_HOME:-${HOME:-/dev/null}/.cache}/walkback', '.agent-shadow/bin'];

/** Where a file for one call lies below the projects root: a program to install, or a long request. */
export const incomingName = (call: string): string => `.agent-shadow/in/${call}`;

interface CallText {
  /** What the program reads: JSON, or the name of the file that it was sent ahead in. */
  request: { text: string } | { file: string };
  /** Begins the line that says that no program was found. */
  mark: string;
  build: Pick<ProgramBuild, 'digests'>;
  /** A program on the sandbox's own machine, which needs no upload. */
  local?: string;
}

/** `w PROGRAM` starts it. */
const starting = ({ request, mark }: Pick<CallText, 'request' | 'mark'>): string => {
  if ('file' in request) return `w() { "$1" <${shellQuote(request.file)}; }`;
  const end = `END_${mark.replaceAll('-', '_')}`;
  return [`w() { "$1" <<'${end}'`, request.text, end, '}'].join('\n');
};

const cleaning = ({ request }: Pick<CallText, 'request'>): string =>
  'file' in request ? `rm -f ${shellQuote(request.file)}; ` : '';

/** A program that cannot be executed where it lies, for example on a file system without execution, exits with 126. */
const tryEach = (paths: readonly string[], clean: string): string =>
  [
    `for p in ${paths.join(' ')}; do`,
    '  [ -f "$p" ] && [ -x "$p" ] || continue',
    '  w "$p"; s=$?',
    `  [ $s = 126 ] || { ${clean}exit $s; }`,
    'done',
  ].join('\n');

const absent = (mark: string): string =>
  `printf '%s absent %s\\n' ${shellQuote(mark)} "$(uname -m)"; exit ${ABSENT_EXIT}`;

/** Starts the program where it lies, or says on which architecture it is absent. */
export const callText = (call: CallText): string => {
  const { mark, build, local } = call;
  const kept = [BAKED, ...PLACES].flatMap((place) =>
    ARCHITECTURES.map((architecture) => `"${place}/${build.digests[architecture]}"`),
  );
  const paths = local === undefined ? kept : [shellQuote(local), ...kept];
  return [starting(call), tryEach(paths, cleaning(call)), absent(mark)].join('\n');
};

/**
 * Installs an upload in the first place from which it can be started, and starts it there. The program itself proves
 * that it arrived whole: started as `install DIGEST`, it compares its own bytes with the digest, and renames itself.
 */
export const installText = (text: CallText, architecture: Architecture, uploaded: string): string => {
  const digest = text.build.digests[architecture];
  return [
    `u=${shellQuote(uploaded)}`,
    `for d in ${PLACES.map((place) => `"${place}"`).join(' ')}; do`,
    '  mkdir -p "$d" 2>/dev/null && cp "$u" "$d/part-$$" 2>/dev/null && chmod 755 "$d/part-$$" || continue',
    `  "$d/part-$$" install ${digest} && break`,
    '  rm -f "$d/part-$$"',
    'done 2>/dev/null',
    'rm -f "$u"; rmdir .agent-shadow/in 2>/dev/null; rmdir .agent-shadow 2>/dev/null',
    callText(text),
  ].join('\n');
};

/** Whether this text needs a request that was sent ahead as a file. */
export const fitsCommand = (text: string): boolean => Buffer.byteLength(text) <= MAX_COMMAND_BYTES;

/** The architecture that a call without a program named, or undefined when it did not say. */
export const absentOn = (stdout: string, mark: string): string | undefined =>
  stdout
    .split('\n')
    .find((line) => line.startsWith(`${mark} absent `))
    ?.slice(`${mark} absent `.length)
    .trim();
