/** Options for a step's own deadlines. */
import type { Command } from 'commander';
import { MAX_CALL_SECONDS, type StepDeadlines } from '../contract/deadlines.ts';
import { parseWholeNumber } from './options.ts';

export interface DeadlineOptions {
  timeout?: number;
  undoTimeout?: number;
}

export const withDeadlines = (command: Command): Command => {
  const parse = parseWholeNumber(1, MAX_CALL_SECONDS);
  return command
    .option('--timeout <seconds>', 'deadline of the call (default: what the tool declares)', parse)
    .option('--undo-timeout <seconds>', 'the same for the call that takes it back', parse);
};

export const deadlinesOf = ({ timeout, undoTimeout }: DeadlineOptions): StepDeadlines => ({
  ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
  ...(undoTimeout === undefined ? {} : { compensation: { timeoutSeconds: undoTimeout } }),
});
