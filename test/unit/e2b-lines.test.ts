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
      let looked = 0;
      const split = vi.spyOn(String.prototype, 'split').mockImplementation(function (this: string, by) {
        looked += this.length;
        return Reflect.apply(plainSplit, this, [by]) as string[];
      });
      try {
        const lines: string[] = [];
        const splitter = createLineSplitter((line) => lines.push(line));
        for (let n = 0; n < pieces; n++) splitter.push('x'.repeat(64));
        splitter.push('\n');
        expect(lines).toHaveLength(1);
        expect(lines[0]).toHaveLength(64 * pieces);
      } finally {
        split.mockRestore();
      }
      return looked;
    };
    const plainSplit = String.prototype.split;
    expect(work(1000)).toBe(64 * 1000 + 1);
    expect(work(10_000)).toBe(64 * 10_000 + 1);
  });
});
