import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createLineSplitter } from '../../core/shared/lines.ts';
import { eachLine } from '../../local/each-line.ts';

const split = (pieces: string[]): string[] => {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line));
  for (const piece of pieces) splitter.push(piece);
  splitter.end();
  return lines;
};

describe('lines of a command', () => {
  test('are the same however the text is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é', '\u2028', '\u2029') })),
        (pieces) => {
          const expected = pieces.join('').split('\n');
          if (expected.at(-1) === '') expected.pop();
          expect(split(pieces)).toEqual(expected);
        },
      ),
    );
  });

  test('come as soon as they are complete, and an unfinished one comes at the end', () => {
    const lines: string[] = [];
    const splitter = createLineSplitter((line) => lines.push(line));
    splitter.push('one\ntw');
    expect(lines).toEqual(['one']);
    splitter.push('o');
    expect(lines).toEqual(['one']);
    splitter.end();
    expect(lines).toEqual(['one', 'two']);
  });

  test('cost no more work for coming in many pieces', () => {
    const work = (pieces: number): number => {
      const looked = vi.spyOn(String.prototype, 'split');
      try {
        const lines: string[] = [];
        const splitter = createLineSplitter((line) => lines.push(line));
        for (let n = 0; n < pieces; n++) splitter.push('x'.repeat(64));
        splitter.push('\n');
        expect(lines.map(({ length }) => length)).toEqual([64 * pieces]);
        return looked.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
      } finally {
        looked.mockRestore();
      }
    };
    expect(work(1000)).toBe(64 * 1000 + 1);
    expect(work(10_000)).toBe(64 * 10_000 + 1);
  });
});

test('a stream of JSON has a message in each line, whatever texts are in it and wherever it is cut', async () => {
  const messages = ['a\u2028b', 'c\u2029d', 'é\r🧵', ''].map((text) => JSON.stringify({ text }));
  const bytes = Buffer.from(`${messages.join('\n')}\n`);
  for (const size of [1, 2, 3, 1000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    );
    const stream = Readable.from(pieces, { objectMode: false });
    const lines: string[] = [];
    eachLine(stream, (line) => lines.push(line));
    await finished(stream);
    expect(lines).toEqual(messages);
  }
});
