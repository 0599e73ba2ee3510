/**
 * Where the suite's processor time goes: with WALKBACK_TIMES=FILE, every test file adds a line to it, its seconds and its path.
 * Counts the process that ran the file and the children it waited for, not Vitest's own main process.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

/** The kernel counts in hundredths of a second. */
const TICKS_A_SECOND = 100;
/** utime, stime, cutime and cstime, counted from what follows the name of the program. */
const FIRST = 11;
const LAST = 15;

const secondsSoFar = (): number => {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(FIRST, LAST).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
};

const times = process.env['WALKBACK_TIMES'];
if (times !== undefined) {
  // A file that has a process to itself pays for its start.
  const shared = globalThis as { walkbackSecondsBefore?: number };
  afterAll(() => {
    const { testPath = '' } = expect.getState();
    const now = secondsSoFar();
    appendFileSync(
      times,
      `${(now - (shared.walkbackSecondsBefore ?? 0)).toFixed(2)} ${relative('.', testPath)}\n`,
    );
    shared.walkbackSecondsBefore = now;
  });
}
