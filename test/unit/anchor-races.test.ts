/** Runs that write the digests of the ledger at once: each says how far the ledger is anchored. */
import { expect, test } from 'vitest';
import type { AnchorStore } from '../../core/saga/ledger/anchor.ts';
import { createAnchorLedger } from '../../core/saga/ledger/write-anchors.ts';

const NOON = Date.parse('2026-03-05T12:00:00.000Z');

const opened = () => {
  const texts = new Map<string, string>();
  const names = () => [...texts.keys()].toSorted();
  const anchors: AnchorStore = {
    days: async () => [...new Set(names().map((name) => name.slice(0, 10)))],
    list: async (day) =>
      names()
        .filter((name) => name.startsWith(day))
        .map((name) => ({ name, versions: 1 })),
    get: async (name) => texts.get(name),
    put: async (name, text) => {
      if (texts.has(name)) return false;
      texts.set(name, text);
      return true;
    },
  };
  const runAt = (timeMs: number) =>
    createAnchorLedger({
      anchors,
      signer: { sign: async () => ({ signature: 'c2ln', key: 'key' }) },
      outcomes: async () => ({ items: [] }),
      clock: { now: () => new Date(timeMs), sleep: async () => undefined },
      log: { info: () => undefined, warn: () => undefined },
    })({ deadlineMs: timeMs + 300_000 });
  return { runAt, names };
};

test('one that another was faster than says what is anchored, also at the very first', async () => {
  const { runAt, names } = opened();
  for (const timeMs of [NOON, NOON + 3_600_000]) {
    const told = await Promise.all([runAt(timeMs), runAt(timeMs), runAt(timeMs)]);
    expect(told.flatMap(({ written }) => written)).toEqual(names().slice(-1));
    const until = new Date(timeMs - 600_000).toISOString();
    expect(told.map((one) => one.until)).toEqual([until, until, until]);
  }
});
