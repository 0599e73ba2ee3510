/** A task's failure, with the name Retry and Catch match on. */
export class TaskError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
