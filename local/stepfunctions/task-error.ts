/** Whether the Retry and the Catch of a state can take a failure whose name they list. */
export interface Takes {
  retry: boolean;
  catch: boolean;
}

const ANYTHING: Takes = { retry: true, catch: true };
export const NOTHING: Takes = { retry: false, catch: false };

/** A task's failure, with the name that Retry and Catch match on. */
export class TaskError extends Error {
  override readonly name: string;
  /** Read by the engine: some failures end the execution, whatever its Retry and Catch say. */
  readonly isCatchable: boolean;
  readonly isRetryable: boolean;

  constructor(name: string, message: string, takes = ANYTHING) {
    super(message);
    this.name = name;
    this.isCatchable = takes.catch;
    this.isRetryable = takes.retry;
  }
}
