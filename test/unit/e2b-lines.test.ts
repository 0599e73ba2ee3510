import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createLineSplitter } from '../../adapters/e2b/lines.ts';

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
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', '\n', '\r', 'é') })), (pieces) => {
        const expected = pieces.join('').split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(split(pieces)).toEqual(expected);
      }),
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
