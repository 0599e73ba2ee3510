/** The long tests take turns, and the time may cut a turn: which files run at which commit. */
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { longFiles } from '../support/long-files.ts';
import { filesOfPart, secondsOf } from '../support/longest-first.ts';

const COUNT = 3;
/** Files by their number, a few of which take most of the time. */
const FILES = Array.from({ length: 97 }, (_, at) => at);
const seconds = (file: number): number => Math.round(1 + 120 / (1 + file / 6));
const partOf = (commit: number) => filesOfPart(FILES, seconds, { index: (commit % COUNT) + 1, count: COUNT });
const sumOf = <File>(files: readonly File[], of: (file: File) => number): number =>
  files.reduce((sum, file) => sum + of(file), 0);

test('every file belongs to one part, and each part has its share of the long ones', () => {
  const parts = [0, 1, 2].map((commit) => partOf(commit).own);
  expect(parts.flat().toSorted((a, b) => a - b)).toEqual(FILES);
  for (const part of parts) expect(part[0]).toBeLessThan(COUNT);
});

test('the parts take about as long as each other, whatever their files take', () => {
  const shapes: Record<string, (file: number) => number> = {
    'a few long ones': seconds,
    'one that is very long': (file) => (file === 0 ? 500 : 20),
    'all alike': () => 10,
    'every third is long': (file) => (file % COUNT === 0 ? 90 : 5),
  };
  for (const [shape, of] of Object.entries(shapes)) {
    const sums = [1, 2, 3].map((index) => sumOf(filesOfPart(FILES, of, { index, count: COUNT }).own, of));
    // No way to deal them out is shorter than this, and the longest first is at most a third longer than the best.
    const least = Math.max(sumOf(FILES, of) / COUNT, ...FILES.map(of));
    expect(Math.max(...sums), shape).toBeLessThanOrEqual((least * 4) / 3);
  }
});

test('the long tests of this repository are dealt out evenly by what they were measured to take', () => {
  const files = longFiles().map((path) => resolve(path));
  const of = (path: string) => secondsOf(path);
  const parts = [1, 2, 3].map((index) => filesOfPart(files, of, { index, count: COUNT }).own);
  expect(parts.flat().toSorted()).toEqual(files.toSorted());
  const sums = parts.map((part) => sumOf(part, of));
  expect(Math.max(...sums) - Math.min(...sums)).toBeLessThanOrEqual(30);
});

test('a file has run in the last three commits, also when each part is cut in its second half', () => {
  const lastRun = new Map<number, number>();
  for (let commit = 0; commit < 20; commit += 1) {
    const { carried, own } = partOf(commit);
    const ended = own.slice(0, Math.floor(own.length / 2));
    for (const file of [...carried, ...ended]) lastRun.set(file, commit);
    if (commit < COUNT) continue;
    const oldest = Math.min(...FILES.map((file) => lastRun.get(file) ?? -1));
    expect(commit - oldest, `commit ${commit}`).toBeLessThan(COUNT);
  }
});

test('what a part leaves when it is cut comes first in the next one', () => {
  for (const commit of [0, 1, 2]) {
    const { own } = partOf(commit);
    expect(partOf(commit + 1).carried).toEqual(own.slice(Math.floor(own.length / 2)));
  }
});
