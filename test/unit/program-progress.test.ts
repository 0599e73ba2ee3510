/** Progress of the program in the sandbox: what it writes is read, and nothing else is taken for it (C10). */
import { expect, test } from 'vitest';
import { progressOf } from '../../adapters/git/program/progress.ts';
import { progressWords } from '../../present/progress-words.ts';

test('a line of the program is read', () => {
  expect(progressOf('walkback-progress {"doing":"files","done":12,"of":40}')).toEqual({
    doing: 'files',
    done: 12,
    of: 40,
  });
  expect(progressOf('walkback-progress {"doing":"unpacked","done":1,"of":2}')).toMatchObject({ done: 1 });
  expect(progressOf('walkback-progress {"doing":"files","done":0}')).toEqual({ doing: 'files', done: 0 });
});

test.each([
  'warning: something',
  'walkback-progress ',
  'walkback-progress {"doing":"files"',
  'walkback-progress {"doing":"files","done":-1}',
  'walkback-progress {"doing":"files","done":1e999}',
  'walkback-progress {"doing":"files","done":1.5}',
  'walkback-progress {"doing":"<script>","done":1}',
  'walkback-progress {"doing":"upload","done":1}',
  'walkback-progress {"doing":"files","done":1,"more":"x"}',
  'walkback-progress [1]',
  ' walkback-progress {"doing":"files","done":1}',
  `walkback-progress {"doing":"files",${' '.repeat(500)}"done":1}`,
])('%j is not', (line) => {
  expect(progressOf(line)).toBeUndefined();
});

test('people read it in words', () => {
  const times = { startedAt: '2026-01-01T00:00:00.000Z', at: '2026-01-01T00:00:09.000Z' };
  expect(progressWords({ doing: 'files', done: 12_000, of: 100_000, ...times })).toBe(
    '12,000 of 100,000 files read',
  );
  expect(progressWords({ doing: 'files', done: 7, ...times })).toBe('7 files read');
  expect(progressWords({ doing: 'upload', done: 0, of: 3 * 1024 ** 2, ...times })).toBe('sending 3.0 MiB');
  const gibibytes = { done: 1.5 * 1024 ** 3, of: 4 * 1024 ** 3, ...times };
  expect(progressWords({ doing: 'bytes', ...gibibytes })).toBe('1.5 GiB of 4.0 GiB of large files');
  expect(progressWords({ doing: 'download', ...gibibytes })).toBe('1.5 GiB of 4.0 GiB fetched');
  expect(progressWords({ doing: 'unpacked', ...gibibytes })).toBe('1.5 GiB of 4.0 GiB unpacked');
  expect(progressWords({ doing: 'packed', done: 1.5 * 1024 ** 3, ...times })).toBe('1.5 GiB packed');
  expect(progressWords({ doing: 'written', done: 1, of: 2, ...times })).toBe('1 of 2 files written');
  expect(progressWords({ doing: 'verified', done: 1, of: 2, ...times })).toBe('1 of 2 files verified');
});
