import type { Command } from 'commander';
import type { Invoke } from './contract.ts';
import { untilInterrupted } from './interruption.ts';
import type { LocalSandboxes } from './sandboxes.ts';
import type { TargetFlags } from './target/select.ts';
import { createProgress, type Progress } from './terminal/progress.ts';
import type { Paint, Terminal } from './terminal/terminal.ts';
import { paintFor, widthOf } from './terminal/terminal.ts';

/** A place the functions run in, open for one command. */
export interface Connection {
  invoke: Invoke;
  /** The embedded cloud's sandboxes, which are directories on this machine; absent on AWS. */
  sandboxes?: LocalSandboxes;
  close(): Promise<void>;
}

/** What the commands are given; main.ts makes the real one, tests a recording one. */
export interface App {
  terminal: Terminal;
  /** Aborted by SIGINT or SIGTERM. */
  signal: AbortSignal;
  connect(flags: TargetFlags, options: { json: boolean; progress: Progress }): Promise<Connection>;
}

export interface GlobalOptions extends TargetFlags {
  json?: boolean;
}

/** One command's run: where to ask and how to answer. */
export interface Run extends Connection {
  terminal: Terminal;
  options: GlobalOptions;
  json: boolean;
  paint: Paint;
  width: number;
  progress: Progress;
  /** Prints the answer: `value` as JSON with `--json`, else the text. */
  answer(value: unknown, text: () => string): void;
  /** Something to know beside the answer; on stderr, and not with `--json`. */
  note(text: string): void;
}

/** Connects, runs `body`, and closes whatever happens, also when the command is interrupted. */
export const withConnection = async (
  app: App,
  command: Command,
  body: (run: Run) => Promise<void>,
): Promise<void> => {
  const options = command.optsWithGlobals<GlobalOptions>();
  const json = options.json === true;
  const { terminal } = app;
  const progress = createProgress(terminal, { quiet: json, signal: app.signal });
  const opening = app.connect(options, { json, progress });
  const start = async (): Promise<void> => {
    const connection = await opening;
    app.signal.throwIfAborted();
    await body({
      ...connection,
      terminal,
      options,
      json,
      paint: paintFor(terminal),
      width: widthOf(terminal),
      progress,
      answer: (value, text) =>
        void terminal.stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : text()),
      note: (text) => void (json || terminal.stderr.write(`${text}\n`)),
    });
  };
  try {
    await untilInterrupted(app.signal, start);
  } finally {
    const opened = await opening.catch(() => undefined);
    await opened?.close();
  }
};
