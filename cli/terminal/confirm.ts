import { createInterface } from 'node:readline/promises';
import { CliError } from '../failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks on stderr, because stdout is for the answer. Without a terminal nobody can be asked: throws
 * `InvalidInput`, which says to pass `--yes`.
 */
export const confirm = async (
  terminal: Terminal,
  question: string | (() => Promise<string>),
): Promise<boolean> => {
  if (terminal.stdin.isTTY !== true) {
    throw new CliError('InvalidInput', 'There is no terminal to ask for confirmation. Nothing was changed.', {
      hint: 'pass --yes to go ahead, or --dry-run to see the plan only',
    });
  }
  const asked = typeof question === 'string' ? question : await question();
  const readline = createInterface({ input: terminal.stdin, output: process.stderr });
  // Ctrl-C and Ctrl-D close the interface. Both mean no.
  const closed = new Promise<string>((resolve) => readline.once('close', () => resolve('\n')));
  try {
    const answer = await Promise.race([readline.question(`${asked} [y/N] `), closed]);
    if (answer === '\n') terminal.stderr.write(answer);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    readline.close();
  }
};
