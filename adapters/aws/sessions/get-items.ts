/** Several items of one session, read by one request. */
import type { FoundItems, SessionStore } from '../../../core/checkpoint/ports/stores.ts';
import type { Table } from '../table.ts';
import type { Key, Stored } from '../table-reads.ts';
import { checkpointKey, messageIdKey, rollbackKey, sessionKey, toolKey } from './session-keys.ts';
import { readMovable } from './store-sessions.ts';
import { readCheckpoint, readMessage, readRollback } from './stored-items.ts';

export const createGetItems =
  (table: Table): SessionStore['getItems'] =>
  async (sessionId, { session, toolExecutionId, seqs = [], messageId, rollback }) => {
    const ofTool = toolExecutionId === undefined ? undefined : toolKey(sessionId, toolExecutionId);
    const ofMessage = messageId === undefined ? undefined : messageIdKey(sessionId, messageId);
    const ofRollback = rollback === undefined ? undefined : rollbackKey(sessionId, rollback);
    const ofSession = session === undefined ? undefined : sessionKey(sessionId);
    const ofSeqs = seqs.map((seq) => ({ seq, key: checkpointKey(sessionId, seq) }));
    const keys = [ofSession, ofTool, ofMessage, ofRollback, ...ofSeqs.map(({ key }) => key)];
    const itemAt = await table.getAll(keys.filter((key) => key !== undefined));

    const found = <T>(key: Key | undefined, read: (item: Stored) => T): T | undefined => {
      const item = key && itemAt(key);
      return item === undefined ? undefined : read(item);
    };
    const toolSeq = found(ofTool, ({ seq }) => seq);
    const checkpoints = ofSeqs.flatMap(({ seq, key }) => {
      const checkpoint = found(key, readCheckpoint);
      return checkpoint === undefined ? [] : [[seq, checkpoint] as const];
    });
    const items: FoundItems = { checkpoints: new Map(checkpoints) };
    const moved = found(ofSession, readMovable);
    const message = found(ofMessage, readMessage);
    const journal = found(ofRollback, readRollback);
    return {
      ...items,
      ...(moved && { session: moved }),
      ...(typeof toolSeq === 'number' && { toolSeq }),
      ...(message && { message }),
      ...(journal && { rollback: journal }),
    };
  };
