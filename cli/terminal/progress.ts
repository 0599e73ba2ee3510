import type { Terminal } from './terminal.ts';
import { paintFor, widthOf } from './terminal.ts';
import { truncate } from './text.ts';

/** `detail` is asked each time: what is known of the work now. */
export type Progress = <T>(
  label: string,
  work: () => Promise<T>,
  detail?: () => string | undefined,
) => Promise<T>;

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;
const TTY_QUIET_MS = 350;
const PLAIN_QUIET_MS = 1000;
const PLAIN_REPEAT_MS = 10_000;

const seconds = (sinceMs: number): number => Math.round((Date.now() - sinceMs) / 1000);

const spin = (terminal: Terminal, label: () => string, startedMs: number): (() => void) => {
  const paint = paintFor(terminal, terminal.stderr);
  let frame = 0;
  let shown = false;
  const timer = setInterval(() => {
    if (Date.now() - startedMs < TTY_QUIET_MS) return;
    const elapsed = seconds(startedMs);
    const text = truncate(label(), widthOf(terminal, terminal.stderr) - 10);
    const clock = elapsed > 0 ? paint.dim(` ${elapsed}s`) : '';
    terminal.stderr.write(`\r\u001b[2K${paint.cyan(FRAMES[frame % FRAMES.length] ?? '')} ${text}${clock}`);
    frame += 1;
    shown = true;
  }, FRAME_MS);
  return () => {
    clearInterval(timer);
    if (shown) terminal.stderr.write('\r\u001b[2K');
  };
};

const report = (terminal: Terminal, label: () => string, startedMs: number): (() => void) => {
  const say = (): void => void terminal.stderr.write(`${label()} … ${seconds(startedMs)}s\n`);
  let repeat: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    say();
    repeat = setInterval(say, PLAIN_REPEAT_MS);
  }, PLAIN_QUIET_MS);
  return () => {
    clearTimeout(first);
    clearInterval(repeat);
  };
};

/** Shows on stderr that something is still running: a spinner on a terminal, a line now and then elsewhere. */
export const createProgress =
  (terminal: Terminal, { quiet, signal }: { quiet: boolean; signal: AbortSignal }): Progress =>
  async (label, work, detail) => {
    if (quiet || signal.aborted) return work();
    const show = terminal.stderr.isTTY === true ? spin : report;
    const text = (): string => {
      const now = detail?.();
      return now === undefined ? label : `${label}: ${now}`;
    };
    const stop = show(terminal, text, Date.now());
    // Interrupted work goes on in the background for a moment, and must not draw any more.
    signal.addEventListener('abort', stop);
    try {
      return await work();
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  };
