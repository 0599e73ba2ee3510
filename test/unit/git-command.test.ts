/** Texts for the sandbox: words of a shell, names of refs, lists of transfers. */
import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { curlTransfers } from '../../adapters/git/curl.ts';
import { findAnswer } from '../../adapters/git/program/answer.ts';
import { refName } from '../../adapters/git/ref-name.ts';
import { shellQuote } from '../../adapters/git/shell-quote.ts';

describe('what goes into the sandbox', () => {
  test('any text without NUL survives a shell', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
          { maxLength: 8 },
        ),
        (texts) => {
          const script = `printf '%s\\0' '' ${texts.map((text) => shellQuote(text)).join(' ')}`;
          expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(
            ['', ...texts].map((text) => `${text}\0`).join(''),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  test('shell tricks are only text', () => {
    const tricks = [
      '$(touch /tmp/owned)',
      '`id`',
      "'; touch /tmp/owned #",
      '$HOME',
      '!!',
      '\\',
      '-n',
      '~',
      '*',
    ];
    const script = `printf '%s\\n' ${tricks.map((trick) => shellQuote(trick)).join(' ')}`;
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual(tricks);
  });

  test('a NUL is refused by name', () => {
    expect(() => shellQuote('a\0b')).toThrow(expect.objectContaining({ name: 'InvalidInput' }));
  });

  test('ids become names a ref may have', () => {
    expect(refName('tool:1..lock.')).toBe('tool%3A1%2E%2Elock%2E');
    execFileSync('git', ['check-ref-format', `refs/tags/chkpt/${refName('a:b..c.lock')}`]);
  });

  test('lists of transfers are quoted for curl, and end with a mark', () => {
    expect(
      curlTransfers([
        {
          url: 'https://x/?a="b"\\',
          headers: { 'x-amz-checksum-sha256': 'abc=' },
          sizeBytes: 2,
          upload: '0.base',
        },
        { url: 'https://y', sizeBytes: 1, output: 'f' },
      ]),
    ).toBe(
      [
        '# list',
        'fail-early',
        'url = "https://x/?a=\\"b\\"\\\\"',
        'header = "x-amz-checksum-sha256: abc="',
        'upload-file = "0.base"',
        'header = "Expect:"',
        'output = "/dev/null"',
        'fail',
        'silent',
        'show-error',
        'retry = 3',
        '# list',
        'fail-early',
        'url = "https://y"',
        'output = "f"',
        'fail',
        'silent',
        'show-error',
        'retry = 3',
        '# end',
        '',
      ].join('\n'),
    );
  });

  test('transfers are shared among at most four lists of about the same size, and none is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 40 }), (sizes) => {
        const text = curlTransfers(
          sizes.map((sizeBytes, at) => ({ url: `u${at}`, sizeBytes, output: `o${at}` })),
        );
        const lists = text
          .split('# list\n')
          .slice(1)
          .map((list) => [...list.matchAll(/^url = "u(\d+)"$/gm)].map(([, at]) => Number(at)));
        expect(lists.flat().toSorted((a, b) => a - b)).toEqual(sizes.map((_, at) => at));
        expect(lists).toHaveLength(Math.min(4, sizes.length));
        // No list is heavier than the lightest by more than one transfer.
        const bytes = lists.map((list) => list.reduce((sum, at) => sum + (sizes[at] ?? 0), 0));
        expect(Math.max(0, ...bytes)).toBeLessThanOrEqual(
          Math.min(...bytes, Infinity) + Math.max(0, ...sizes),
        );
        expect(text.match(/^next$/gm)?.length ?? 0).toBe(sizes.length - lists.length);
      }),
    );
  });
});

test('noise around the marks is ignored; the second answer has its own number', () => {
  const out = 'Welcome!\nMARK\nQUJD\nMARK\nnoise\nMARK\nREVG\nMARK\n';
  expect(findAnswer(out, 'MARK')).toBe('QUJD');
  expect(findAnswer(out, 'MARK', 1)).toBe('REVG');
  expect(findAnswer('MARK\nQUJD\n', 'MARK')).toBeUndefined();
});
