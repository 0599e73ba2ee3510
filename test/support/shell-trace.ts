/**
 * How much the shell of the program in the sandbox does: each of its statements with its words, as bash traces them. Work that
 * grows with the square of its input shows in the trace, on any machine and however busy it is.
 */
import { readFileSync, rmSync } from 'node:fs';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';

const STARTS = `/bin/bash --noprofile --norc -c '`;

export interface Trace {
  statements: number;
  bytes: number;
}

/** Makes the scripts that a sandbox runs write their trace into `file`. The native program has none. */
export const traceInto = (sandbox: ExecutionAdapter, file: string): void => {
  const run = sandbox.run.bind(sandbox);
  sandbox.run = (command, options) => {
    const begins = `${STARTS}exec 250>>${file}; BASH_XTRACEFD=250; set -x; `;
    return run(
      command.replace(STARTS, () => begins),
      options,
    );
  };
};

/** What was traced since the last time. Throws when no script ran. */
export const takeTrace = (file: string): Trace => {
  const text = readFileSync(file, 'latin1');
  rmSync(file);
  return { statements: text.split('\n+').length, bytes: text.length };
};
