import { constants } from 'node:os';
import { EXIT_CODES } from '../contract/exit-codes.ts';
import { userName } from '../kit/machine-user.ts';
import { printable } from '../present/text.ts';
import type { App } from './app.ts';
import { CliError, describeFailure, type Failure } from './failure.ts';
import { keepLoopbackDirect } from './loopback.ts';
import { createProgram } from './program.ts';
import type { TargetFlags } from './target/select.ts';
import { page } from './terminal/pager.ts';
import type { Terminal } from './terminal/terminal.ts';
import { paintFor, widthOf } from './terminal/terminal.ts';
import { wrap } from './terminal/text.ts';
import { failureThere } from './where-words.ts';

/** The entry of the command. It owns only the process: signals, streams, exit code. */

/** Ctrl-C reaches us twice, from the terminal and from the launcher. A later one means "now". */
const IMPATIENT_AFTER_MS = 1000;

/** The shell's directory; undefined when somebody deleted it. */
const cwd = ((): string | undefined => {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
})();

keepLoopbackDirect(process.env);

const terminal: Terminal = {
  env: process.env,
  cwd: cwd ?? '/',
  user: userName(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  now: () => new Date(),
};

/**
 * Set when the output cannot be written: the reader closed early (`walkback log | head`), or the disk is
 * full.
 */
let lost: NodeJS.ErrnoException | undefined;

interface Signals {
  interrupted: AbortSignal;
  /** While `work` runs, Ctrl-C is for somebody else: a pager. */
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
  // An error in a server of the embedded cloud ends the command, after everything was closed.
  process.on('uncaughtException', (error) => interrupted.abort(error));
  // What is under way is closed before the end, as after Ctrl-C.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    lost ??= error;
    interrupted.abort(new CliError('Interrupted', 'Nobody reads what the command says.'));
  });
  // stderr is for people. Work does not end because nobody reads it.
  process.stderr.on('error', () => undefined);
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

const isJson = process.argv.includes('--json');

const showFailure = (failure: Failure, json: boolean): void => {
  if (json) {
    process.stderr.write(`${JSON.stringify({ error: failure })}\n`);
    return;
  }
  const paint = paintFor(terminal, terminal.stderr);
  const hint = failure.hint === undefined ? '' : `\n  ${paint.dim('hint')}  ${printable(failure.hint)}`;
  const whole = `${failure.name}: ${printable(failure.message)}`;
  // A pipe gets one line. A person's terminal gets lines that break between words.
  const text = terminal.stderr.isTTY === true ? wrap(whole, widthOf(terminal, terminal.stderr)) : whole;
  process.stderr.write(`${paint.red(failure.name)}${text.slice(failure.name.length)}${hint}\n`);
};

/** A reader that closes early is not an error. An answer that could not be written is one. */
const lostCode = (): number => {
  if (lost === undefined || lost.code === 'EPIPE') return EXIT_CODES.ok.code;
  const message = `The answer could not be written: ${lost.message}. What was asked for may be done.`;
  const hint = 'walkback log and walkback saga list show what was done';
  showFailure({ name: 'InternalError', message, hint, exitCode: EXIT_CODES.failed.code }, isJson);
  return EXIT_CODES.failed.code;
};

const run = async (argv: readonly string[]): Promise<number> => {
  const { interrupted: signal, leaveTo } = watchSignals();
  const connect: App['connect'] = async (flags, options) => {
    // The SDKs take a second to load, and help and wrong usage need not wait for them.
    const { createConnect } = await options.progress('Starting', () => import('./target/open.ts'));
    return createConnect(terminal, signal)(flags, options);
  };
  const app: App = { terminal, signal, connect, page: (text) => leaveTo(() => page(terminal, text)) };
  const program = createProgram(app);
  try {
    if (cwd === undefined) {
      const hint = 'go to one that is: cd ~';
      throw new CliError('ProjectsRootNotFound', 'The current directory is not there any more.', { hint });
    }
    await program.parseAsync(argv, { from: 'user' });
    return EXIT_CODES.ok.code;
  } catch (error) {
    if (lost !== undefined) return lostCode();
    const failure = failureThere(describeFailure(error), program.opts<TargetFlags>());
    if (failure.message !== '') showFailure(failure, isJson);
    return failure.exitCode;
  }
};

const exitCode = await run(process.argv.slice(2));
// Work that an interrupt left behind must not keep the process alive.
process.stdout.write('', (error) => {
  lost ??= error ?? undefined;
  process.exit(exitCode === EXIT_CODES.ok.code ? lostCode() : exitCode);
});
