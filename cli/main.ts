import { constants } from 'node:os';
import { EXIT_CODES } from '../contract/exit-codes.ts';
import type { App } from './app.ts';
import { CliError, describeFailure, type Failure } from './failure.ts';
import { createProgram } from './program.ts';
import { page } from './terminal/pager.ts';
import type { Terminal } from './terminal/terminal.ts';
import { paintFor, widthOf } from './terminal/terminal.ts';
import { printable, wrap } from './terminal/text.ts';

/** The entry of the command: owns the process (signals, streams, exit code) and nothing else. */

/** Ctrl-C reaches us twice, from the terminal and from the launcher; a later one means "now". */
const IMPATIENT_AFTER_MS = 1000;

const terminal: Terminal = {
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => new Date(),
};

interface Signals {
  interrupted: AbortSignal;
  /** While `work` runs, Ctrl-C is somebody else's: a pager's. */
  leaveTo: <T>(work: () => Promise<T>) => Promise<T>;
}

const watchSignals = (): Signals => {
  const interrupted = new AbortController();
  let firstMs: number | undefined;
  let isLeft = false;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    if (isLeft && signal === 'SIGINT') return;
    firstMs ??= Date.now();
    if (Date.now() - firstMs > IMPATIENT_AFTER_MS) process.exit(128 + constants.signals[signal]);
    interrupted.abort(new CliError('Interrupted', 'Interrupted.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // A mistake in a server of the embedded cloud ends the command, and everything is put away first.
  process.on('uncaughtException', (error) => interrupted.abort(error));
  return {
    interrupted: interrupted.signal,
    leaveTo: async (work) => {
      isLeft = true;
      try {
        return await work();
      } finally {
        isLeft = false;
      }
    },
  };
};

const showFailure = (failure: Failure, json: boolean): void => {
  if (json) {
    process.stderr.write(`${JSON.stringify({ error: failure })}\n`);
    return;
  }
  const paint = paintFor(terminal, terminal.stderr);
  const hint = failure.hint === undefined ? '' : `\n  ${paint.dim('hint')}  ${printable(failure.hint)}`;
  const whole = `${failure.name}: ${printable(failure.message)}`;
  // A pipe gets one line, a person gets whole words.
  const text = terminal.stderr.isTTY === true ? wrap(whole, widthOf(terminal, terminal.stderr)) : whole;
  process.stderr.write(`${paint.red(failure.name)}${text.slice(failure.name.length)}${hint}\n`);
};

const run = async (argv: readonly string[]): Promise<number> => {
  const { interrupted: signal, leaveTo } = watchSignals();
  const connect: App['connect'] = async (flags, options) => {
    // The SDKs take a second to load; help and wrong usage need not wait for them.
    const { createConnect } = await options.progress('Starting', () => import('./target/open.ts'));
    return createConnect(terminal, signal)(flags, options);
  };
  const app: App = { terminal, signal, connect, page: (text) => leaveTo(() => page(terminal, text)) };
  try {
    await createProgram(app).parseAsync(argv, { from: 'user' });
    return EXIT_CODES.ok.code;
  } catch (error) {
    const failure = describeFailure(error);
    if (failure.message !== '') showFailure(failure, argv.includes('--json'));
    return failure.exitCode;
  }
};

// A reader that closes early (`walkback log | head`) is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const exitCode = await run(process.argv.slice(2));
// Work that an interrupt left behind must not keep the process alive.
process.stdout.write('', () => process.exit(exitCode));
