/** What everything has around it. */
export interface Clock {
  now(): Date;
  /** Waits before a lost race is tried again. */
  sleep(ms: number): Promise<void>;
  /** Does it again and again, until what it answers is called. A clock without it never does. */
  every?(ms: number, act: () => void): () => void;
}

/** Structured log of what a use case did; no secrets, no file contents. */
export interface Log {
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
}
