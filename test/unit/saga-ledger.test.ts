/** What a saga writes: keys, the ledger and its chain, pinned steps, packed state. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chain, findChainBreak, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import { fromRow, toRow } from '../../core/saga/ledger/ledger-row.ts';
import { executionName, idempotencyKey } from '../../core/saga/model/keys.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import type { EffectRecord } from '../../core/saga/model/state.ts';
import { isPinnedChunk, pinSteps } from '../../core/saga/plan/pinned-steps.ts';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import { canonicalJson, hashJson } from '../../core/shared/canonical-json.ts';
import { isReadable } from '../support/readable-json.ts';
import { stepOf } from '../support/simulated-saga.ts';

describe('keys', () => {
  test('carry saga, step, epoch and direction', () => {
    expect(idempotencyKey('r1', 3, 0)).toBe('r1:3');
    expect(idempotencyKey('r1', 3, 2)).toBe('r1:3@2');
    expect(idempotencyKey('r1', 3, 0, 'undo')).toBe('r1:3:undo');
    expect(idempotencyKey('r1', 3, 1, 'undo')).toBe('r1:3@1:undo');
  });

  test('give every saga and generation an execution name of its own that the service allows', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/);
    fc.assert(
      fc.property(id, id, fc.nat(99), (a, b, generation) => {
        const name = executionName(a, generation);
        expect(name).toMatch(/^[A-Za-z0-9_.-]{1,80}$/);
        if (a !== b) expect(executionName(b, generation)).not.toBe(name);
      }),
    );
    expect(executionName('a:b', 1)).not.toBe(executionName('a_b', 1));
  });
});

describe('the ledger', () => {
  const facts: Fact[] = [
    { direction: 'saga', status: 'started', planHash: 'p', inputHash: 'i', stepCount: 1, requestHash: 'r' },
    { direction: 'saga', status: 'cancel_requested' },
    { direction: 'saga', status: 'compensated' },
  ];
  const { entries, tip } = chain('s', { seq: 0, tip: GENESIS_HASH }, facts, {
    at: '2026-01-01T00:00:00.000Z',
    actor: 'me',
  });

  test('shows where it was altered, cut in the middle, or cut at the end', () => {
    expect(findChainBreak(entries, tip)).toBeUndefined();
    const altered = entries.map((entry) => (entry.seq === 1 ? { ...entry, actor: 'mallory' } : entry));
    expect(findChainBreak(altered, tip)).toEqual({ seq: 1, reason: 'altered' });
    expect(
      findChainBreak(
        entries.filter(({ seq }) => seq !== 1),
        tip,
      ),
    ).toEqual({ seq: 1, reason: 'missing' });
    expect(findChainBreak(entries.slice(0, 2), tip)).toEqual({ seq: 2, reason: 'missing' });
    const [first] = entries;
    const swapped =
      first === undefined
        ? []
        : chain('s', { seq: 0, tip: 'f'.repeat(64) }, facts.slice(0, 1), { at: first.at, actor: 'me' })
            .entries;
    expect(findChainBreak(swapped)).toEqual({ seq: 0, reason: 'unlinked' });
  });

  test('comes back from its rows as it was, whatever the errors in it are called', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, message) => {
        const fact: Fact = {
          direction: 'undo',
          status: 'failed',
          stepIndex: 0,
          step: 's',
          tool: 't',
          version: '1',
          epoch: 0,
          error: { name, message },
        };
        const stamp = { at: '2026-01-01T00:00:00.000Z', actor: 'me' };
        const [entry] = chain('s', { seq: 0, tip: GENESIS_HASH }, [fact], stamp).entries;
        if (entry === undefined) throw new Error('no entry');
        expect(findChainBreak([fromRow(JSON.parse(JSON.stringify(toRow(entry))))])).toBeUndefined();
      }),
      {
        examples: [
          ['Acme: Refused', 'no'],
          ['', ': '],
          ['a:', ' b'],
        ],
      },
    );
  });
});

describe('pinned steps', () => {
  test('prove their place in the plan, however many they are; nothing else does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.nat(99), (count, pick) => {
        const steps = Array.from({ length: count }, (_, index) => stepOf(index, 'read'));
        const { planHash, chunks } = pinSteps(steps);
        expect(chunks.flatMap((chunk) => chunk.steps)).toEqual(steps);
        for (const [at, chunk] of chunks.entries()) expect(isPinnedChunk(planHash, at, chunk)).toBe(true);
        const at = pick % chunks.length;
        const chunk = chunks[at] ?? { steps: [], proof: [] };
        const altered = chunk.steps.map((step) => ({ ...step, functionName: 'elsewhere' }));
        expect(isPinnedChunk(planHash, at, { ...chunk, steps: altered })).toBe(false);
        expect(isPinnedChunk(planHash, at + 1, chunk)).toBe(false);
      }),
      { numRuns: 30 },
    );
  });
});

describe('small things', () => {
  test('canonical JSON does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()).filter(isReadable), (value) => {
        const turned = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(hashJson(turned)).toBe(hashJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('500 steps pack into less than a write unit', () => {
    const effects = Array.from(
      { length: 500 },
      (_, step): EffectRecord => ({
        step,
        epoch: 0,
        kind: step % 5 === 0 ? 'read' : 'compensatable',
        status: 'committed',
        startSeq: 1 + 2 * step,
        endSeq: 2 + 2 * step,
      }),
    );
    expect(unpackEffects(packEffects(effects))).toEqual(effects);
    expect(packEffects(effects).length).toBeLessThan(4000);
  });
});
