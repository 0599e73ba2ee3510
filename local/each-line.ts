/** The lines of another process's stream, as protocols with JSON lines define them. */
import type { Readable } from 'node:stream';
import { createLineSplitter } from '../core/shared/lines.ts';

export const eachLine = (stream: Readable, onLine: (line: string) => void): void => {
  const splitter = createLineSplitter(onLine);
  // A character may come in two pieces.
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => splitter.push(text));
  stream.on('end', () => splitter.end());
};
