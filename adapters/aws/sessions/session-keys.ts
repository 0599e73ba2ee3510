/** Keys of the Sessions table, in one place (docs/design.md, "Data"). */
import { sha256Hex } from '../../../core/shared/ids.ts';
import type { Key } from '../table-reads.ts';

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0');

const sessionPk = (sessionId: string): string => `SESSION#${sessionId}`;

export const sessionKey = (sessionId: string): Key => ({ pk: sessionPk(sessionId), sk: 'META' });
export const checkpointKey = (sessionId: string, seq: number): Key => ({
  pk: sessionPk(sessionId),
  sk: `CP#${pad(seq, 8)}`,
});
export const toolKey = (sessionId: string, toolExecutionId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `TOOL#${toolExecutionId}`,
});
export const messageOrderKey = (sessionId: string, order: number): Key => ({
  pk: sessionPk(sessionId),
  sk: `MSG#${pad(order, 8)}`,
});
export const messageIdKey = (sessionId: string, messageId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `MSGID#${messageId}`,
});
export const linkKey = (sessionId: string, chainId: string, link: number, commit: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `LINK#${chainId}#${pad(link, 4)}#${commit}`,
});
export const rollbackKey = (sessionId: string, requestId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `ROLLBACK#${requestId}`,
});
export const rehydrateKey = (sessionId: string, requestId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `REHYDRATE#${requestId}`,
});
export const searchKey = (sessionId: string, requestId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `BISECT#${requestId}`,
});
export const copyKey = (sessionId: string, sandboxId: string): Key => ({
  pk: sessionPk(sessionId),
  sk: `COPY#${sandboxId}`,
});
export const wordsKey = (sessionId: string, number: number): Key => ({
  pk: sessionPk(sessionId),
  sk: `WORDS#${pad(number, 8)}`,
});
export const progressKey = (sessionId: string): Key => ({ pk: sessionPk(sessionId), sk: 'PROGRESS' });
export const baseKey = (name: string, owner: string): Key => ({
  pk: `BASE#${owner}#${name}`,
  sk: 'META',
});
export const uploadKey = (objectKey: string): Key => ({
  pk: `UPLOAD#${sha256Hex(objectKey)}`,
  sk: 'UPLOAD',
});

export const CHECKPOINT_PREFIX = 'CP#';
export const TOOL_PREFIX = 'TOOL#';
export const WORDS_PREFIX = 'WORDS#';
export const MESSAGE_PREFIX = 'MSG#';
export const linkPrefix = (chainId: string): string => `LINK#${chainId}#`;
