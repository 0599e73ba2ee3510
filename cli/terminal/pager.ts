import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Terminal } from './terminal.ts';

/** The shell command of the pager, or undefined when the text goes straight to stdout. */
export const pagerCommand = (terminal: Pick<Terminal, 'env' | 'stdout'>): string | undefined => {
  if (terminal.stdout.isTTY !== true || terminal.env['TERM'] === 'dumb') return undefined;
  const pager = terminal.env['PAGER'] ?? 'less';
  return pager === '' || pager === 'cat' ? undefined : pager;
};

/** Shows long text through $PAGER (`less -FRX` by default) on a terminal, and directly elsewhere. */
export const page = async (terminal: Terminal, text: string): Promise<void> => {
  const command = pagerCommand(terminal);
  if (command === undefined) {
    terminal.stdout.write(text);
    return;
  }
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...terminal.env, LESS: terminal.env['LESS'] ?? 'FRX' },
  });
  // The reader may quit before everything is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(text);
  const code: unknown = (await once(child, 'close'))[0];
  if (code === 127) terminal.stdout.write(text);
};
