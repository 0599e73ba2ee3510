/** Ids and names, how they are made and how they are recognised. Pure. */
import { createHash } from 'node:crypto';
import { CHECKPOINT_ID_PATTERN, RESERVED_ID_PREFIX } from '../../contract/ids.ts';

/** A git object id: SHA-1 or SHA-256, lower-case hex. */
export const OBJECT_ID_PATTERN = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export const sha256Hex = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

/** A path below the projects root as a report may name it: `.`, or relative without empty, `.` or `..` parts. */
export const isRepositoryPath = (path: string): boolean =>
  path === '.' ||
  (path.length > 0 &&
    path.length <= 1024 &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'));

/** Names one repository of a session in keys: 16 hex digits of the SHA-256 of its path relative to the projects root. */
export const repositoryKey = (path: string): string => sha256Hex(path).slice(0, 16);

/**
 * A checkpoint id carries its sequence number, so it is found with one strongly consistent read:
 * `cp-<seq, 8 digits>-<8 hex of SHA-256(sessionId, toolExecutionId)>`.
 */
export const checkpointId = (sessionId: string, seq: number, toolExecutionId: string): string =>
  `cp-${String(seq).padStart(8, '0')}-${sha256Hex(`${sessionId}\n${toolExecutionId}`).slice(0, 8)}`;

/** The sequence number inside a checkpoint id, or undefined when the text is not one. */
export const checkpointSeq = (id: string): number | undefined =>
  CHECKPOINT_ID_PATTERN.test(id) ? Number(id.split('-')[1]) : undefined;

/** Name of the checkpoint that parking takes: the same request repeats it. */
export const parkToolId = (requestId: string): string =>
  `${RESERVED_ID_PREFIX}park-${sha256Hex(requestId).slice(0, 24)}`;

export const BASELINE_TOOL_ID = `${RESERVED_ID_PREFIX}baseline`;

/** Name of a rollback's `n`th capture of "now": the same request repeats its names. */
export const rollbackToolId = (requestId: string, n: number): string =>
  `${RESERVED_ID_PREFIX}rollback-${sha256Hex(requestId).slice(0, 24)}-${n}`;

/** Name of the `n`th checkpoint of what other processes wrote while a rollback was at work. */
export const lateToolId = (requestId: string, n: number): string =>
  `${RESERVED_ID_PREFIX}late-${sha256Hex(requestId).slice(0, 24)}-${n}`;

/** Name of a state that a request composed after its `n`th capture of "now". */
export const composedToolId = (requestId: string, n: number): string =>
  `${RESERVED_ID_PREFIX}composed-${sha256Hex(requestId).slice(0, 24)}-${n}`;

/** `<prefix>-<time, base 36, sorts by age>-<10 random characters>`. */
export const timeSortableId = (prefix: string, now: Date, random: string): string =>
  `${prefix}-${now.getTime().toString(36).padStart(9, '0')}-${random.slice(0, 10)}`;

/** A base bundle's name: the host commit, where history below it is cut off, and which packs a partial clone fetched. */
export const BASE_NAME_PATTERN =
  /^(sha1|sha256)-([0-9a-f]{40}|[0-9a-f]{64})(-s[0-9a-f]{16})?(-p[0-9a-f]{16})?$/;
