/**
 * Captures and restores whose processes get little memory (`ulimit -v`), so that some of them really run out of it: complete and
 * equal to what nobody disturbed, or told.
 */
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { expectTold, expectToldError, sayings, standing } from './capture-faults.ts';
import { createHarness, type Harness } from './git-harness.ts';
import { world } from './git-repositories.ts';
import { runSync } from './run-sync.ts';

const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const NAMES = ['app'];

/** Names for find and sort, and content that git has to hold as a whole. */
const MAKE = `git init -q -b main .; mkdir many; (cd many; seq 1 4000 | split -l 2 -a 4 -d - a-rather-long-name-of-a-file-)
seq 1 400000 > large; head -c 3000000 /dev/urandom > noise; git add many large; git commit -qm one; chmod 600 noise; mkdir empty`;
const CHANGE = `rm -rf many/*1? empty; seq 5 400009 > large; git commit -qam two; head -c 3000000 /dev/urandom > noise; echo staged > s; git add s; chmod 644 noise`;

/** From what is too little for git to begin (seen: up to 7.5 MB) to what is enough for all of it (seen: from 12 MB). */
const limitsKib = (count: number, shift: number): number[] =>
  Array.from({ length: count }, (_, index) => Math.round(4_000 * 6 ** ((index + shift) / count)));

/** Its commands run with little memory while `limit` is set. */
const limited = () => {
  const prefix: string[] = [];
  return {
    prefix,
    limit: (kib: number | undefined): void => {
      const words = kib === undefined ? [] : ['/bin/sh', '-c', `ulimit -v ${kib} && exec "$@"`, 'sh'];
      prefix.splice(0, prefix.length, ...words);
    },
  };
};

const prepared = async (prefix: string[]): Promise<Harness> => {
  const harness = await createHarness({ prefix });
  for (const name of NAMES) {
    mkdirSync(`${harness.root}/${name}`);
    harness.sh(MAKE, name);
  }
  return harness;
};

type Ends = Map<string, number>;
const count = (ends: Ends, end: string): Ends => ends.set(end, (ends.get(end) ?? 0) + 1);

/** How the captures ended. `shift`, from 0 to 1, moves the limits. */
export const capturesInLittleMemory = async (steps: number, shift: number): Promise<Ends> => {
  const { prefix, limit } = limited();
  await using harness = await prepared(prefix);
  const whole = await harness.capture();
  const ends: Ends = new Map();
  for (const kib of limitsKib(steps, shift)) {
    const name = `capture with ${kib} KiB`;
    harness.sh('rm -rf .agent-shadow */.agent-shadow');
    harness.standOn(undefined);
    limit(kib);
    const [met] = await Promise.allSettled([harness.capture()]);
    limit(undefined);
    if (met.status === 'rejected') {
      expectToldError(met.reason, name);
      count(ends, 'error');
    } else {
      expectTold(met.value, whole, name);
      count(ends, met.value.report.failures.length > 0 ? 'told' : 'whole');
    }
    // Nothing of it stays.
    harness.standOn(undefined);
    const next = await harness.capture();
    expect(standing(next), `after ${name}`).toEqual(standing(whole));
    expect(sayings(next), `after ${name}`).toEqual(sayings(whole));
  }
  return ends;
};

/** How the restores ended. */
export const restoresInLittleMemory = async (steps: number, shift: number): Promise<Ends> => {
  const { prefix, limit } = limited();
  await using harness = await prepared(prefix);
  const looks = () => world(harness, NAMES);
  const before = looks();
  const first = await harness.capture();
  for (const name of NAMES) harness.sh(CHANGE, name);
  const after = looks();
  const second = await harness.capture();
  runSync('cp', ['-a', harness.root, `${harness.root}.saved`], PLACE);
  const ends: Ends = new Map();
  for (const kib of limitsKib(steps, shift)) {
    const name = `restore with ${kib} KiB`;
    runSync('/bin/sh', ['-c', 'rm -rf "$1" && cp -a "$1.saved" "$1"', 'sh', harness.root], PLACE);
    const around = async (restore: () => Promise<RestoreReport>): Promise<RestoreReport> => {
      limit(kib);
      try {
        return await restore();
      } finally {
        limit(undefined);
      }
    };
    const [met] = await Promise.allSettled([harness.rollback(first, { from: second, around })]);
    if (met.status === 'rejected') {
      expectToldError(met.reason, name);
      count(ends, 'error');
    } else {
      const { outcome, problems } = met.value.report;
      const where = `${name}: ${JSON.stringify(problems)}`;
      for (const { message } of problems) expect(message, where).toMatch(/\w{3}/);
      if (outcome === 'applied') expect(looks(), where).toEqual(before);
      else expect(problems.length, where).toBeGreaterThan(0);
      if (outcome === 'refused' || outcome === 'reverted') expect(looks(), where).toEqual(after);
      count(ends, outcome);
    }
    // The same again, with memory.
    const there = await harness.rollback(first);
    expect([there.report.outcome, there.report.problems], `${name}: again`).toEqual(['applied', []]);
    expect(looks(), `${name}: again`).toEqual(before);
  }
  return ends;
};
