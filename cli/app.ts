/** What every command works with: the app, a connection, and the way to answer. */
import type { Command } from 'commander';
import type { Invoke } from '../contract/invoke.ts';
import { CliError, isInterruption } from './failure.ts';
import type { Issuer } from './identity/issuer.ts';
import { untilInterrupted } from './interruption.ts';
import type { LocalSandboxes } from './sandboxes.ts';
import type { TargetFlags } from './target/select.ts';
import { prepareColumns } from './terminal/columns.ts';
import { createProgress, type Progress } from './terminal/progress.ts';
import type { Paint, Terminal } from './terminal/terminal.ts';
import { paintFor, widthOf } from './terminal/terminal.ts';

/** A place the functions run in, open for one command. */
export interface Connection {
  invoke: Invoke;
  /** The embedded cloud's sandboxes, which are directories on this machine; absent on AWS. */
  sandboxes?: LocalSandboxes;
  /** What the embedded cloud says about itself, as `walkback env` prints it; absent on AWS. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Where people sign in; absent when no issuer is configured. */
  issuer?: Issuer;
  /** The person who is signed in there. */
  person?: string;
  close(): Promise<void>;
}

interface ConnectOptions {
  json: boolean;
  progress: Progress;
  /** A cloud for this command alone, with its environment, and never one that runs in the background. */
  isOwn?: boolean;
}

/** The services that commands receive. main.ts makes the real ones, tests make recording ones. */
export interface App {
  terminal: Terminal;
  /** Aborted by SIGINT or SIGTERM. */
  signal: AbortSignal;
  connect(flags: TargetFlags, options: ConnectOptions): Promise<Connection>;
  /** Shows long text through a pager where there is a terminal. */
  page(text: string): Promise<void>;
}

/** The answer of a command: `value` with `--json`, else the text. */
export interface Answer {
  value: unknown;
  text: () => string;
  /** Long enough for a pager. */
  isLong?: boolean;
  /** Thrown after the answer was shown. It says what is left to do. */
  failure?: CliError | undefined;
}

export interface GlobalOptions extends TargetFlags {
  json?: boolean;
}

interface Underway {
  message: string;
  hint: string;
}

/** One run of a command: where to ask and how to answer. */
export interface Run extends Connection {
  terminal: Terminal;
  /** Aborted by SIGINT or SIGTERM. */
  signal: AbortSignal;
  options: GlobalOptions;
  json: boolean;
  paint: Paint;
  width: number;
  progress: Progress;
  /** Information beside the answer. It goes to stderr, and is left out with `--json`. */
  note(text: string): void;
  /** From now on, an interruption tells the person that the work goes on, or was left half done. */
  underway(work: Underway): void;
}

/** Answers of functions contain names from outside, which are laid out in columns. */
const preparing =
  (invoke: Invoke): Invoke =>
  async (name, input) => {
    const answer = await invoke(name, input);
    await prepareColumns(JSON.stringify(answer));
    return answer;
  };

const show = async (app: App, json: boolean, { value, text, isLong }: Answer): Promise<void> => {
  if (json) app.terminal.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
  else if (isLong === true) await app.page(text());
  else app.terminal.stdout.write(text());
};

/** When somebody is signed in, requests carry the proof. */
const signedIn = async (
  connection: Connection,
  terminal: Terminal,
  { data }: TargetFlags,
): Promise<Connection> => {
  const { issuer, invoke } = connection;
  if (issuer === undefined) return connection;
  const { openLogins } = await import('./identity/logins.ts');
  const login = await openLogins(terminal, data).find(issuer);
  if (login === undefined) return connection;
  const { proving } = await import('./identity/proving.ts');
  return { ...connection, invoke: proving(invoke, login), person: login.name };
};

/**
 * `serves`: the command runs until it is interrupted. `body` itself waits for the signal, and closes what it
 * opened.
 */
interface How {
  serves?: boolean;
}

/**
 * Connects, runs `body`, and closes the connection in any case, also after an interruption. Only then is the
 * answer shown, so that no connection stays open while a person reads.
 */
export const withConnection = async (
  app: App,
  command: Command,
  body: (run: Run) => Promise<Answer>,
  { serves = false }: How = {},
): Promise<void> => {
  const options = command.optsWithGlobals<GlobalOptions>();
  const json = options.json === true;
  const { terminal } = app;
  const progress = createProgress(terminal, { quiet: json, signal: app.signal });
  const opening = app.connect(options, { json, progress });
  let underway: Underway | undefined;
  const start = async (): Promise<Answer> => {
    const connection = await opening;
    app.signal.throwIfAborted();
    const proven = await signedIn(connection, terminal, options);
    return body({
      ...proven,
      invoke: json ? proven.invoke : preparing(proven.invoke),
      terminal,
      signal: app.signal,
      options,
      json,
      paint: paintFor(terminal),
      width: widthOf(terminal),
      progress,
      note: (text) => void (json || terminal.stderr.write(`${text}\n`)),
      underway: (work) => {
        underway = work;
      },
    });
  };
  let answer: Answer;
  try {
    answer = serves ? await start() : await untilInterrupted(app.signal, start);
  } catch (error) {
    if (underway === undefined || !isInterruption(error)) throw error;
    throw new CliError('Interrupted', underway.message, { hint: underway.hint, cause: error });
  } finally {
    const opened = await opening.catch(() => undefined);
    await opened?.close();
  }
  await show(app, json, answer);
  if (answer.failure !== undefined) throw answer.failure;
};
