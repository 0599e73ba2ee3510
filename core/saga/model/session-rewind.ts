/**
 * The record of a session's rewind. It is written before anything is undone. So a repeated request goes to
 * the same checkpoint, and once the rewind is done, a repeated request touches nothing that came after it.
 */
export interface RewindRecord {
  sessionId: string;
  requestId: string;
  requestHash: string;
  checkpointId: string;
  /** The session's epoch when the rewind began. Work of this epoch is stale from then on. */
  epoch: number;
  by: string;
  guidance?: string;
  /** Keys of what nothing takes back and was accepted. Without it all of that was. */
  residue?: string[];
  at: string;
  /** When the rewind was done. */
  doneAt?: string;
}
