/** A command that says where to look when it cannot understand its words. */
import { Command, CommanderError, type ErrorOptions } from 'commander';

/** For words that no command understands. */
export class UsageError extends CommanderError {
  readonly hint: string;

  constructor({ exitCode, code, message }: CommanderError, hint: string) {
    super(exitCode, code, message);
    this.hint = hint;
  }
}

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

export class ToldCommand extends Command {
  override createCommand(name?: string): Command {
    return new ToldCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    try {
      super.error(message, options);
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      const what = error.code === 'commander.unknownCommand' ? 'lists them' : 'says what it takes';
      throw new UsageError(error, `${pathOf(this)} --help ${what}`);
    }
  }
}
