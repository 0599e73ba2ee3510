import { Readable } from 'node:stream';
import type { Terminal } from './terminal.ts';

export interface Choice {
  value: string;
  label: string;
  hint: string;
}

const SHOWN_AT_ONCE = 12;

/**
 * Lets a person choose on stderr, with the arrow keys or by typing a part of the name. Undefined: nothing was
 * chosen.
 */
export const choose = async (
  { stdin, env }: Terminal,
  message: string,
  choices: readonly Choice[],
  signal: AbortSignal,
): Promise<string | undefined> => {
  if (!(stdin instanceof Readable)) return undefined;
  // Loaded only when somebody is asked.
  const { autocomplete, isCancel, settings } = await import('@clack/prompts');
  // A terminal that was never told its size says 0, and the list would be one character wide.
  if (process.stderr.columns === 0) process.stderr.columns = 80;
  settings.withGuide = env['TERM'] !== 'dumb';
  const chosen = await autocomplete({
    message,
    options: [...choices],
    maxItems: SHOWN_AT_ONCE,
    input: stdin,
    output: process.stderr,
    signal,
  });
  return isCancel(chosen) ? undefined : chosen;
};
