/** Services that every part of the core uses. */
export interface Clock {
  now(): Date;
  /** Waits before a lost race is tried again. */
  sleep(ms: number): Promise<void>;
  /**
   * Calls `act` again and again until the returned function is called. A clock without `every` never does.
   */
  every?(ms: number, act: () => void): () => void;
}

/** Structured log of what a use case did; no secrets, no file contents. */
export interface Log {
  info(message: string, facts?: Record<string, unknown>): void;
  warn(message: string, facts?: Record<string, unknown>): void;
}
