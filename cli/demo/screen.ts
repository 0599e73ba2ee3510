import type { App } from '../app.ts';
import { visibleLength } from '../terminal/columns.ts';
import { createProgress, type Progress } from '../terminal/progress.ts';
import type { Paint } from '../terminal/terminal.ts';
import { pageWidthOf, paintFor } from '../terminal/terminal.ts';
import { padEnd, truncate } from '../terminal/text.ts';

/** The demo's page: chapters with lines below them. On stderr when stdout is for JSON. */
export interface Screen {
  paint: Paint;
  /** The answer on stdout is JSON. */
  json: boolean;
  width: number;
  progress: Progress;
  chapter(title: string): void;
  line(text?: string): void;
  /** A block of lines, indented like the others. */
  block(text: string): void;
  /** The agent's operation on the left, and on the right what Walkback did before it. */
  operation(facts: { messageId: string; says: string; note: string }): void;
}

const INDENT = '   ';

export const createScreen = ({ terminal, signal }: App, json: boolean): Screen => {
  const stream = json ? terminal.stderr : terminal.stdout;
  const paint = paintFor(terminal, stream);
  const width = pageWidthOf(terminal, 100);
  let chapters = 0;
  const write = (text: string): void => {
    stream.write(text);
  };
  const line = (text = ''): void => write(text === '' ? '\n' : `${INDENT}${text}\n`);
  return {
    paint,
    json,
    width: width - INDENT.length,
    progress: createProgress(terminal, { quiet: json, signal }),
    chapter: (title) => {
      chapters += 1;
      write(`\n${paint.bold(paint.cyan(String(chapters)))}  ${paint.bold(title)}\n`);
    },
    line,
    block: (text) => {
      for (const each of text.replace(/\n$/, '').split('\n')) line(each);
    },
    operation: ({ messageId, says, note }) => {
      const room = width - INDENT.length - visibleLength(messageId) - 2 - visibleLength(note) - 2;
      const text = padEnd(truncate(says, room), room);
      line(`${paint.yellow(messageId)}  ${text}  ${paint.dim(note)}`);
    },
  };
};

/** `0.42 s` */
export const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

export const timed = async <T>(work: () => Promise<T>): Promise<{ value: T; ms: number }> => {
  const started = performance.now();
  const value = await work();
  return { value, ms: performance.now() - started };
};
