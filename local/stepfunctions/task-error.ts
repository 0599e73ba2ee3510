/** A task's failure, with the name Retry and Catch match on. */
export class TaskError extends Error {
  override readonly name: string;
  /** Read by the engine: some failures end the execution whatever its Retry and Catch say. */
  readonly isCatchable: boolean;
  readonly isRetryable: boolean;

  constructor(name: string, message: string, { final = false } = {}) {
    super(message);
    this.name = name;
    this.isCatchable = !final;
    this.isRetryable = !final;
  }
}
