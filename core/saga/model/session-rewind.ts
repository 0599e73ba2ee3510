/**
 * The record of a session's rewind. It is written before anything is undone, so that a repeated request goes
 * to the same checkpoint, and one that is through touches nothing that came after it.
 */
export interface RewindRecord {
  sessionId: string;
  requestId: string;
  requestHash: string;
  checkpointId: string;
  /** Of the session when it began. Work of this epoch is stale from then on. */
  epoch: number;
  by: string;
  guidance?: string;
  at: string;
  /** When it was through. */
  doneAt?: string;
}
