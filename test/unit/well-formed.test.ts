import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readToolResponse } from '../../core/saga/tools/tool-protocol.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import { wellFormed } from '../../core/shared/well-formed.ts';

const HALF = 'cut \ud83d';
const MENDED = 'cut \ufffd';

describe('half a character, which no table keeps', () => {
  test('is U+FFFD in every text and every name of a value', () => {
    const value = { [HALF]: [HALF, { in: HALF, whole: '😀', n: 1, no: null, yes: true }] };
    expect(wellFormed(value)).toEqual({
      [MENDED]: [MENDED, { in: MENDED, whole: '😀', n: 1, no: null, yes: true }],
    });
  });

  test('a value without any stays the same one, however deep', () => {
    let deep: unknown = '😀';
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(wellFormed(deep)).toBe(deep);
    expect(wellFormed(undefined)).toBeUndefined();
  });

  test('never gets in with the input of a function, nor with the answer of a tool', () => {
    const schema = z.strictObject({ metadata: z.record(z.string(), z.string()) });
    expect(parseInput(schema, { metadata: { [HALF]: HALF } })).toEqual({ metadata: { [MENDED]: MENDED } });
    expect(readToolResponse({ outcome: 'committed', result: { id: HALF }, externalRef: HALF })).toEqual({
      outcome: 'committed',
      result: { id: MENDED },
      externalRef: MENDED,
    });
  });
});
