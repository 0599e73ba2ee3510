/** The long tests take turns, and the time may cut a turn: which files run at which commit. */
import { expect, test } from 'vitest';
import { filesOfPart } from '../support/longest-first.ts';

const COUNT = 3;
const FILES = Array.from({ length: 97 }, (_, at) => at);
const partOf = (commit: number) => filesOfPart(FILES, { index: (commit % COUNT) + 1, count: COUNT });

test('every file belongs to one part, and each part has its share of the long ones', () => {
  const parts = [0, 1, 2].map((commit) => partOf(commit).own);
  expect(parts.flat().toSorted((a, b) => a - b)).toEqual(FILES);
  for (const part of parts) expect(part[0]).toBeLessThan(COUNT);
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
