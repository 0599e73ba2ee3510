/**
 * The shell text that starts the program. It is the only shell that a call needs, and asks nothing of it but
 * POSIX. Pure.
 */
import { MAX_COMMAND_BYTES } from '../../../core/checkpoint/ports/sandbox.ts';
import { shellQuote } from '../shell-quote.ts';
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

/** Where files for one call lie below the projects root. */
const INCOMING = '.agent-shadow/in';

/** Where a file for one call lies: a program to install, or a long request. */
export const incomingName = (call: string): string => `${INCOMING}/${call}`;

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

/**
 * Ends where a symlink or a file stands in the way of files for one call: what is sent would be written to where it leads.
 * What was sent already goes first.
 */
const requireOwn = (mark: string, sent?: string): string =>
  [
    `for p in .agent-shadow ${INCOMING}; do`,
    '  k=; [ ! -e "$p" ] || [ -d "$p" ] || k="not a directory"; [ ! -L "$p" ] || k="a symlink"',
    ...(sent === undefined
      ? []
      : [`  [ -z "$k" ] || { rm -f ${shellQuote(sent)}; rmdir ${INCOMING}; } 2>/dev/null`]),
    `  [ -z "$k" ] || { printf '%s obstacle %s is %s\\n' ${shellQuote(mark)} "$p" "$k"; exit ${ABSENT_EXIT}; }`,
    'done',
  ].join('\n');

/** Starts the program where it lies, or says on which architecture it is absent, or what is in the way of an upload. */
export const callText = (call: CallText): string => {
  const { mark, build, local } = call;
  const kept = [BAKED, ...PLACES].flatMap((place) =>
    ARCHITECTURES.map((architecture) => `"${place}/${build.digests[architecture]}"`),
  );
  const paths = local === undefined ? kept : [shellQuote(local), ...kept];
  const { request } = call;
  return [
    ...('file' in request ? [requireOwn(mark, request.file)] : []),
    starting(call),
    tryEach(paths, cleaning(call)),
    ...('file' in request ? [] : [requireOwn(mark)]),
    absent(mark),
  ].join('\n');
};

/**
 * Installs an upload in the first place from which it can be started, and starts it there. The program itself proves
 * that it arrived whole: started as `install DIGEST`, it compares its own bytes with the digest, and renames itself. A place
 * that is a symlink is passed over, because it leads elsewhere.
 */
export const installText = (text: CallText, architecture: Architecture, uploaded: string): string => {
  const digest = text.build.digests[architecture];
  return [
    requireOwn(text.mark, uploaded),
    `u=${shellQuote(uploaded)}`,
    `for d in ${PLACES.map((place) => `"${place}"`).join(' ')}; do`,
    '  [ ! -L "$d" ] && mkdir -p "$d" && rm -f "$d/part-$$" && cp "$u" "$d/part-$$" && chmod 755 "$d/part-$$" || continue',
    `  "$d/part-$$" install ${digest} && break`,
    '  rm -f "$d/part-$$"',
    'done 2>/dev/null',
    'rm -f "$u"; rmdir .agent-shadow/in 2>/dev/null; rmdir .agent-shadow 2>/dev/null',
    callText(text),
  ].join('\n');
};

/** Whether this text needs a request that was sent ahead as a file. */
export const fitsCommand = (text: string): boolean => Buffer.byteLength(text) <= MAX_COMMAND_BYTES;

const said = (stdout: string, beginning: string): string | undefined =>
  stdout
    .split('\n')
    .find((line) => line.startsWith(beginning))
    ?.slice(beginning.length)
    .trim();

/** The architecture that a call without a program named, or undefined when it did not say. */
export const absentOn = (stdout: string, mark: string): string | undefined => said(stdout, `${mark} absent `);

/** What a call found in the way of an upload, and what it is; undefined when nothing is. */
export const obstacleIn = (stdout: string, mark: string): string | undefined =>
  said(stdout, `${mark} obstacle `);
