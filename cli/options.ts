import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { ID_PATTERN } from '../contract/ids.ts';
import { isDayOrTime, isZone } from '../contract/zones.ts';

/** Parsers of option values. A refused value is wrong usage (exit code 2). */

export const parseId = (text: string): string => {
  if (ID_PATTERN.test(text)) return text;
  throw new InvalidArgumentError(
    'Use up to 64 letters, digits and . _ : -, starting with a letter or digit.',
  );
};

/** An empty value comes from a script's variable that was not set. The default would be another directory. */
export const parseDirectory = (text: string): string => {
  if (text !== '') return text;
  throw new InvalidArgumentError('Name a directory; this is empty.');
};

export const parseDay = (text: string): string => {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new InvalidArgumentError('Use a day like 2026-01-31, in UTC.');
};

export const parseDayOrTime = (text: string): string => {
  if (isDayOrTime(text)) return text;
  throw new InvalidArgumentError(
    'Use a day like 2026-01-31, or a time with its offset like 2026-01-31T00:00:00+01:00.',
  );
};

export const parseZone = (text: string): string => {
  if (isZone(text)) return text;
  throw new InvalidArgumentError('Use a time zone like Europe/Berlin, or an offset like +02:00.');
};

export const parseWholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Use a whole number from ${least} to ${most}.`);
  };

export const MINUTES_HELP = 'Use minutes from 0 (never) to 10080 (a week).';

/** How long an embedded cloud waits for work; undefined when the text is not such a time. */
export const idleMinutesIn = (text: string): number | undefined => {
  const minutes = Number(text);
  return text.trim() !== '' && minutes >= 0 && minutes <= 10_080 ? minutes : undefined;
};

const BYTES = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?|b)?$/i;

/** `5242880`, `5M`, `5MiB`: powers of 1024. */
export const parseBytes = (text: string): number => {
  const match = BYTES.exec(text);
  if (match === null) throw new InvalidArgumentError('Use a number of bytes, like 5242880 or 5MiB.');
  const power = match[2] === undefined ? 0 : 'kmgt'.indexOf(match[2].toLowerCase()) + 1;
  return Math.floor(Number(match[1]) * 1024 ** power);
};

/** Names of files and directories, each given with an option of its own. */
export const collectPaths = (text: string, before: string[] = []): string[] => {
  if (text !== '') return [...before, text];
  throw new InvalidArgumentError('Name a file or a directory; this is empty.');
};

/** An option that may be given several times. */
export const collectTexts = (text: string, before: string[] = []): string[] => [...before, text];

/** Collects `--metadata key=value` given several times. */
export const collectMetadata = (
  text: string,
  before: Record<string, string> | undefined,
): Record<string, string> => {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use key=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
};

/**
 * A session id that a person recognises and types: the directory's name and a few random digits. Few digits
 * are enough, because an id that is taken elsewhere is refused.
 */
export const sessionIdFor = (root: string): string => {
  const name = basename(root)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40);
  return `${name === '' ? 'session' : name}-${randomBytes(4).toString('hex')}`;
};

/** Quotes a word for a POSIX shell, for commands we tell a person to run. */
export const shellWord = (text: string): string =>
  /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
