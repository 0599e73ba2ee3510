import { constants } from 'node:os';
import type { App } from './app.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { CliError, describeFailure, type Failure } from './failure.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal/terminal.ts';
import { paintFor } from './terminal/terminal.ts';
import { printable } from './terminal/text.ts';

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

const watchSignals = (): AbortSignal => {
  const interrupted = new AbortController();
  let firstMs: number | undefined;
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    firstMs ??= Date.now();
    if (Date.now() - firstMs > IMPATIENT_AFTER_MS) process.exit(128 + constants.signals[signal]);
    interrupted.abort(new CliError('Interrupted', 'Interrupted.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return interrupted.signal;
};

const showFailure = (failure: Failure, json: boolean): void => {
  if (json) {
    process.stderr.write(`${JSON.stringify({ error: failure })}\n`);
    return;
  }
  const paint = paintFor(terminal, terminal.stderr);
  const hint = failure.hint === undefined ? '' : `\n  ${paint.dim('hint')}  ${printable(failure.hint)}`;
  process.stderr.write(`${paint.red(failure.name)}: ${printable(failure.message)}${hint}\n`);
};

const run = async (argv: readonly string[]): Promise<number> => {
  const signal = watchSignals();
  const connect: App['connect'] = async (flags, options) => {
    // The SDKs take a second to load; help and wrong usage need not wait for them.
    const { createConnect } = await options.progress('Starting', () => import('./target/open.ts'));
    return createConnect(terminal, signal)(flags, options);
  };
  const app: App = { terminal, signal, connect };
  try {
    await createProgram(app).parseAsync(argv, { from: 'user' });
    return EXIT_CODES.ok;
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
