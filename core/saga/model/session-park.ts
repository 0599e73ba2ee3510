/**
 * Which sagas a request to put a session aside means: those that the session worked on when it came. It is written before any of
 * them is parked, so that a repeated request means the same.
 */
export interface ParkRecord {
  sessionId: string;
  requestId: string;
  /** Each with the last entry of its ledger then. A step that was submitted later says that it went on. */
  sagas: { sagaId: string; seq: number }[];
}
