/**
 * Messages of the sandbox's daemon that we read, and the parts that may be repeated. They are those of envd
 * 0.6.13; test/support/envd-0.6.13.json has them as recorded.
 */

/** A longer message, or one of several lines, may contain a command. */
const MAX_CHARS = 300;

/**
 * When the daemon could not start a command, its message repeats the whole command: program, arguments, and
 * in them the request that it is given.
 */
const NOT_STARTED =
  /error starting (?:process|pty with command) '.*'(?: in dir .*)?: (?<why>[^':]+(?:: [^':]+)*)$/s;

/**
 * An error's words without the command. Our messages, causes and log entries hold no other words of the
 * daemon.
 */
export const withoutCommand = (words: string): string => {
  const why = NOT_STARTED.exec(words)?.groups?.['why'];
  const told = why === undefined ? words : `the process could not be started: ${why}`;
  return told.length > MAX_CHARS || told.includes('\n')
    ? 'its words are left out: they may hold a command'
    : told;
};

/** The same error, or one without the command when its words contain it. */
export const causeWithoutCommand = (error: unknown): unknown => {
  if (!(error instanceof Error)) return typeof error === 'string' ? withoutCommand(error) : error;
  const told = withoutCommand(error.message);
  if (told === error.message && error.cause === undefined) return error;
  if (told === error.message && causeWithoutCommand(error.cause) === error.cause) return error;
  const copy = new Error(told, { cause: causeWithoutCommand(error.cause) });
  copy.name = error.name;
  return copy;
};

/** What stands in the way of a command's directory, which is always the projects root. */
export type RootTrouble = 'missing' | 'not-a-directory' | 'not-enterable';

const TROUBLES: [RegExp, RootTrouble][] = [
  [/cwd '.*' does not exist/s, 'missing'],
  [
    /fork\/exec \S+: (?:not a directory|too many levels of symbolic links|file name too long)$/,
    'not-a-directory',
  ],
  [/fork\/exec \S+: permission denied$/, 'not-enterable'],
];

export const rootTrouble = (words: string): RootTrouble | undefined =>
  TROUBLES.find(([pattern]) => pattern.test(words))?.[1];

/** The sandbox has no room for another process now. */
export const isOutOfProcesses = (words: string): boolean =>
  /fork\/exec \S+: (?:resource temporarily unavailable|cannot allocate memory|too many open files|text file busy|no such file or directory)$/.test(
    words,
  );

/** The file that stands where a directory should be, when that is why a file could not be read or written. */
export const fileInTheWay = (words: string): string | undefined =>
  /path is a file: (?<path>.+)$/s.exec(words)?.groups?.['path'] ??
  /(?:l?stat|open) (?<path>.+): (?:not a directory|too many levels of symbolic links)$/s.exec(words)
    ?.groups?.['path'];

/** The HTTP status that the SDK puts before the words, when it has no field for it. */
export const statusIn = (words: string): number | undefined => {
  const status = /^(\d{3}): /.exec(words)?.[1];
  return status === undefined ? undefined : Number(status);
};
