/** Items of sagas as they are read: all that we write is read again, and what we did not write is named. */
import { marshall } from '@aws-sdk/util-dynamodb';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { packedState, stateText } from '../../adapters/aws/sagas/packed-state.ts';
import {
  entryItem,
  headItem,
  inputKey,
  readChunk,
  readDefinition,
  readEntry,
  readHead,
  readInput,
  readToken,
  readTool,
  stepItems,
  tokenKey,
  versionKey,
} from '../../adapters/aws/sagas/saga-items.ts';
import { toHeadChange } from '../../adapters/aws/sagas/saga-stream.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { SagaState } from '../../core/saga/model/state.ts';
import { createPublishSagaChanges } from '../../core/saga/people/publish-saga-changes.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { refundDefinitions } from '../../examples/refund/catalog.ts';
import { chosenSeed } from '../support/sampling.ts';
import { scriptedTool } from '../support/scripted-saga.ts';
import { plans, simulate, turns } from '../support/simulated-saga.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

type Item = Record<string, unknown>;
const HASH = 'a'.repeat(64);
const AT = '2026-01-02T03:04:05.678Z';

const headOf = (state: SagaState): SagaHead => ({
  sagaId: 's',
  version: 3,
  seq: 9,
  tip: HASH,
  state,
  requestHash: HASH,
  planHash: HASH,
  inputHash: HASH,
  definition: 'refund-approved@1',
  sessionId: 'session',
  requestedBy: 'ada',
  historyEvents: 5,
  createdAt: AT,
  updatedAt: AT,
  statusSince: AT,
});

/** As the table gives it back. */
const stored = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));

test('everything that the reducer writes is read again', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(plans, turns, (plan, script) => {
      const { state, entries, steps } = simulate(plan, script);
      for (const entry of entries) kinds.add(`${entry.direction} ${entry.status}`);
      expect(entries.map((entry) => readEntry(stored(entryItem(entry))))).toEqual(entries);
      expect(readHead(stored(headItem(headOf(state))))).toEqual(headOf(state));
      expect(stepItems('s', HASH, steps).flatMap((item) => readChunk(item).steps)).toEqual(steps);
    }),
    { seed: SEED, numRuns: 100 },
  );
  expect(kinds.size).toBeGreaterThan(12);
});

interface Kind {
  what: string;
  item: Item;
  read: (item: Item) => unknown;
  error: 'LedgerBroken' | 'ItemUnreadable';
  names: string;
  /** Attributes that may be missing. */
  optional?: string[];
}

const drawn = fc.sample(fc.tuple(plans, turns), { seed: 7, numRuns: 60 }).map((one) => simulate(...one));
const entries = new Map(
  drawn.flatMap((one) => one.entries.map((entry) => [`${entry.direction} ${entry.status}`, entry] as const)),
);
const { state, steps } = drawn.find((one) => one.state.failure !== null) ?? expect.unreachable('none failed');
const [definition] = refundDefinitions;

const KINDS: Kind[] = [
  {
    what: 'head',
    item: stored(headItem(headOf(state))),
    read: readHead,
    error: 'LedgerBroken',
    names: 'SAGA#s HEAD in the Sagas table',
    optional: ['waitUntilMs', 'definition', 'sessionId'],
  },
  ...[...entries].map(
    ([what, entry]): Kind => ({
      what: `entry ${what}`,
      item: stored(entryItem(entry)),
      read: readEntry,
      error: 'LedgerBroken',
      names: 'in the Ledger table',
      optional: ['external_ref', ...(entry.direction === 'probe' ? ['error'] : [])],
    }),
  ),
  {
    what: 'input',
    item: { ...inputKey('s', HASH), input: '{"amount":5}' },
    read: readInput,
    error: 'LedgerBroken',
    names: `SAGA#s INPUT#${HASH.slice(0, 16)} in the Sagas table`,
  },
  {
    what: 'steps',
    item: stepItems('s', HASH, steps)[0] ?? {},
    read: readChunk,
    error: 'LedgerBroken',
    names: 'in the Sagas table',
  },
  {
    what: 'token',
    item: { ...tokenKey('s'), sagaId: 's', generation: 1, step: 0, enteredMs: 1, retry: 0, token: 't' },
    read: readToken,
    error: 'ItemUnreadable',
    names: 'SAGA#s TOKEN in the Sagas table',
  },
  {
    what: 'tool',
    item: { ...versionKey('TOOL', 'pay', '1'), entry: JSON.stringify(scriptedTool('pay', 'compensatable')) },
    read: readTool,
    error: 'ItemUnreadable',
    names: 'TOOL#pay V#1 in the Sagas table',
  },
  {
    what: 'definition',
    item: { ...versionKey('DEFINITION', 'refund', '1'), entry: JSON.stringify(definition) },
    read: readDefinition,
    error: 'ItemUnreadable',
    names: 'DEFINITION#refund V#1 in the Sagas table',
  },
];

/** Not checked by a reader: they say where the item is, and the audit compares them with what it holds. */
const PLACES = ['pk', 'sk', 'day'];

/** Every attribute, and every member of one that is JSON: gone, or of another type. */
const damages = (item: Item, optional: readonly string[]) => {
  const found: { what: string; damaged: Item }[] = [];
  for (const [name, value] of Object.entries(item)) {
    if (PLACES.includes(name)) continue;
    const { [name]: _, ...without } = item;
    if (!optional.includes(name)) found.push({ what: `${name} gone`, damaged: without });
    found.push({ what: `${name} of another type`, damaged: { ...item, [name]: [[]] } });
    if (!['state', 'steps', 'entry', 'detail'].includes(name)) continue;
    const stored = value instanceof Uint8Array ? packedState : (text: string) => text;
    const cut = value instanceof Uint8Array ? value.subarray(0, -1) : String(value).slice(0, -1);
    found.push({ what: `${name} cut short`, damaged: { ...item, [name]: cut } });
    const whole: Item | Item[] = JSON.parse(value instanceof Uint8Array ? stateText(value) : String(value));
    for (const member of Object.keys(Array.isArray(whole) ? (whole[0] ?? {}) : whole)) {
      const part = Array.isArray(whole) ? whole[0] : whole;
      const broken = { ...part, [member]: [[]] };
      const text = JSON.stringify(Array.isArray(whole) ? [broken] : broken);
      found.push({ what: `${name}.${member} of another type`, damaged: { ...item, [name]: stored(text) } });
    }
  }
  return found;
};

/** What a tool answers and takes: any JSON. */
const ANY_JSON = ['detail.result of another type'];

describe('what was not written so', () => {
  let tried = 0;
  afterAll(() => expect(tried).toBeGreaterThan(200));

  test.each(KINDS)(
    '$what: the error names table, key and what to do',
    ({ item, read, error, names, optional }) => {
      expect(() => read(item)).not.toThrow();
      for (const { what, damaged } of damages(item, optional ?? [])) {
        if (ANY_JSON.includes(what)) continue;
        tried += 1;
        let seen: unknown = 'nothing';
        try {
          read(damaged);
        } catch (thrown) {
          seen = thrown;
        }
        if (!isWalkbackError(seen, error)) expect.unreachable(`${what}: ${String(seen)}`);
        expect(seen.message, what).toContain(names);
        expect(seen.message, what).toMatch(/walkback ledger verify s|Restore the item from a backup/);
      }
    },
  );
});

describe('the stream of heads', () => {
  const image = (item: Item) => marshall(item);
  const head = stored(headItem(headOf(state)));

  test('goes on behind a head that cannot be read, and tells nothing that did not happen', async () => {
    const { tip: _, ...broken } = head;
    const told: string[] = [];
    const publish = createPublishSagaChanges({
      events: { publish: async (events) => void told.push(...events.map(({ id }) => id)) },
      log: { info: () => undefined, warn: () => undefined },
      store: { getHead: () => expect.unreachable(), pageEntries: () => expect.unreachable() },
    });
    const records = [
      { eventID: 'one', dynamodb: { NewImage: image(broken) } },
      { eventID: 'two', dynamodb: { OldImage: image(broken), NewImage: image(head) } },
      { eventID: 'three', dynamodb: { NewImage: image(head) } },
    ];
    await publish(records.map(toHeadChange));
    expect(told).toEqual(['three']);
  });

  test('waits behind one of a newer release that this one cannot read at all', () => {
    const newer = { ...head, format: 99, state: 'other' };
    expect(() => toHeadChange({ eventID: 'one', dynamodb: { NewImage: image(newer) } })).toThrow(
      'SAGA#s HEAD',
    );
  });
});
