/**
 * Fields that several functions take. Everything is strict: a value of another shape is refused, by name
 * (C10).
 */
import * as z from 'zod';
import { CHECKPOINT_ID_PATTERN, ID_PATTERN, RESERVED_ID_PREFIX } from './ids.ts';

export const id = z
  .string()
  .regex(
    ID_PATTERN,
    'must be 1 to 64 of the characters A-Z a-z 0-9 _ . : - and begin with a letter or a digit',
  );

/** What sagas keep out of each other in. */
/** A person decides on a session as it is shown. A checkpoint in between moves nothing; whatever raises the epoch does. */
export const decidedEpoch = () =>
  z
    .int()
    .min(1)
    .optional()
    .describe(
      'the `epoch` of the answer of the plan: when somebody moved the session since then, by a rollback, revert, merge, undo, rewind or resume, the answer is StaleEpoch, and nothing is changed',
    );

export const project = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be 1 to 64 of the characters A-Z a-z 0-9 _ . -');

export const callersId = id.refine((value) => !value.startsWith(RESERVED_ID_PREFIX), {
  error: `ids that begin with "${RESERVED_ID_PREFIX}" are reserved`,
});

// What a text may be is a regular expression where it can be one: JSON Schemas have it then, so that a saga is refused before
// its first step, and a form before it is sent. Without lookaround, which schemas of models do not take.

/**
 * Printable text without line breaks, because these values become headers, tags and file names elsewhere.
 */
export const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters');

const isPlainAbsolutePath = (value: string): boolean =>
  value.startsWith('/') &&
  !/\p{Cc}/u.test(value) &&
  value.split('/').every((part, index, parts) => {
    if (part === '.' || part === '..') return false;
    return part !== '' || index === 0 || index === parts.length - 1;
  });

export const absolutePath = z
  .string()
  .max(1024)
  .refine(isPlainAbsolutePath, {
    error: 'must be an absolute path without "..", ".", empty parts or control characters',
  })
  .refine((value) => value !== '/', { error: 'must not be the root of the file system' })
  .transform((value) => value.replace(/\/$/, ''));

const NO_NUL = new RegExp(String.raw`^[^\x00]*$`);

/** Text that can be a word of a shell. */
export const shellText = (max: number) => z.string().min(1).max(max).regex(NO_NUL, 'must not contain NUL');

/** Neither `.` nor `..`. */
const PART = String.raw`(?:[^/\x00.][^/\x00]*|\.[^/\x00.][^/\x00]*|\.\.[^/\x00]+)`;

const RELATIVE_PATH = new RegExp(`^(?:\\.|${PART}(?:/${PART})*)/?$`, 'u');

/** Of a file or directory below the projects root. `.` is that one itself. */
export const relativePath = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(RELATIVE_PATH, 'must be relative to the projects root, without "..", "." or empty parts');

/** They are kept in the journal of the request, which is one item of a table. */
const MAX_PATHS_BYTES = 128 * 1024;

/** Files, directories or whole repositories. `.` is a repository that is the projects root itself. */
export const repositoryPaths = z
  .array(relativePath(4096))
  .min(1)
  .max(200)
  .refine((paths) => new TextEncoder().encode(JSON.stringify(paths)).length <= MAX_PATHS_BYTES, {
    error: 'are together longer than 128 KiB; name the directories that they are in',
  });

/** Gitignore-style patterns. */
export const patterns = z.array(line(512)).max(200);

/** Whether git looks for this outside of the repository: it takes `..` as a name, whatever stands before it. */
const leadsOut = (pattern: string): boolean => {
  let depth = 0;
  for (const part of pattern.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return pattern.startsWith('/');
};

/** Patterns that git lists files by, in each repository: relative to it, where a rule would begin with `/`. */
export const listedPatterns = z
  .array(
    line(512).refine((pattern) => !leadsOut(pattern), {
      error:
        'leads out of the repository: write it relative to the top of each repository, without "/" at its beginning',
    }),
  )
  .max(200);

export const sandboxId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, 'must be a sandbox id: letters, digits, _ and -');

export const template = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/, 'must be the name or id of a sandbox template');

export const metadata = z
  .record(z.string().regex(ID_PATTERN), z.string().max(1024))
  .refine((value) => Object.keys(value).length <= 50, { error: 'must have at most 50 entries' });

export const checkpointId = z.string().regex(CHECKPOINT_ID_PATTERN, 'must be a checkpoint id, cp-...');

/** Of a call that changes nothing, and may take longer than its caller can wait. */
export const joinedRequestId = id
  .optional()
  .describe(
    'the same id joins the call that is under way, and gets the same answer for ten minutes after it',
  );
