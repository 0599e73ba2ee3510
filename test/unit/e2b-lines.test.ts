import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
});
