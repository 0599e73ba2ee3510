/** Options that say which session a saga, a step or a call belongs to. */
import type { Command } from 'commander';
import { parseId, parseWholeNumber } from './options.ts';

export interface SessionOptions {
  session?: string;
  message?: string;
  epoch?: number;
}

export const withSession = (command: Command, who: string): Command =>
  command
    .option('-s, --session <id>', who, parseId)
    .option('-m, --message <id>', 'message of the session whose work it is', parseId)
    .option(
      '--epoch <n>',
      'refuse if the session was rolled back since this epoch',
      parseWholeNumber(1, 1e9),
    );

export const sessionInputOf = ({ session, message, epoch }: SessionOptions) => ({
  ...(session === undefined ? {} : { sessionId: session }),
  ...(message === undefined ? {} : { messageId: message }),
  ...(epoch === undefined ? {} : { epoch }),
});
