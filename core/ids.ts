import { createHash } from 'node:crypto';

/** The shape of every id a caller may choose (section "Functions" of docs/design.md). Safe in keys, URLs and refs. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

/** A git object id: SHA-1 or SHA-256, lower-case hex. */
export const OBJECT_ID_PATTERN = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export const sha256Hex = (data: string | Uint8Array): string =>
  createHash('sha256').update(data).digest('hex');

/** Names one repository of a session in keys: 16 hex digits of the SHA-256 of its path relative to the projects root. */
export const repositoryKey = (path: string): string => sha256Hex(path).slice(0, 16);

/**
 * A checkpoint id carries its sequence number, so it is found with one strongly consistent read:
 * `cp-<seq, 8 digits>-<8 hex of SHA-256(sessionId, toolExecutionId)>`.
 */
export const checkpointId = (sessionId: string, seq: number, toolExecutionId: string): string =>
  `cp-${String(seq).padStart(8, '0')}-${sha256Hex(`${sessionId}\n${toolExecutionId}`).slice(0, 8)}`;

/** The sequence number inside a checkpoint id, or undefined when the text is not one. */
export const checkpointSeq = (id: string): number | undefined => {
  const match = /^cp-(\d{8,})-[0-9a-f]{8}$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
};
