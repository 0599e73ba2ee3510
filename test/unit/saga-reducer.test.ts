/** The reducer of sagas, for any plan and anything that happens (S1, S3, S9). */
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { fromRow, toRow } from '../../core/saga/ledger/ledger-row.ts';
import { idempotencyKey } from '../../core/saga/model/keys.ts';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import { chosenSeed } from '../support/sampling.ts';
import { plans, simulate, turns } from '../support/simulated-saga.ts';

const SEED = chosenSeed();
process.stdout.write(`SEED=${SEED}\n`);

describe('the reducer, for any plan and anything that happens', () => {
  let delayed = 0;
  afterAll(() => {
    // The generator reaches compensators that are put aside, and what becomes of them.
    expect(delayed).toBeGreaterThan(20);
  });

  test('ends done, undone, or with every residue known; in order, once, and folding from its ledger', () => {
    fc.assert(
      fc.property(plans, turns, (plan, script) => {
        const { state, entries, steps } = simulate(plan, script);
        expect(fold(entries)).toEqual(state);
        delayed += entries.filter(({ status }) => status === 'delayed').length;
        for (const entry of entries) {
          // Every attempt of a compensator has a number of its own, one after the other (S9).
          if (entry.direction !== 'undo' || entry.status !== 'started') continue;
          const earlier = entries.filter(
            (one) =>
              one.seq < entry.seq &&
              one.direction === 'undo' &&
              one.status === 'started' &&
              one.stepIndex === entry.stepIndex,
          );
          expect(entry.attempt).toBe(earlier.length + 1);
        }
        expect(findChainBreak(entries)).toBeUndefined();
        expect(unpackEffects(packEffects(state.effects))).toEqual(state.effects);
        expect(entries.map((entry) => fromRow(JSON.parse(JSON.stringify(toRow(entry)))))).toEqual(entries);

        const kindsOf = (statuses: string[]) =>
          state.effects.filter(({ status }) => statuses.includes(status));
        switch (state.status) {
          case 'COMPLETED':
            expect(state.effects).toHaveLength(steps.length);
            expect(kindsOf(['committed'])).toHaveLength(steps.length);
            break;
          case 'COMPENSATED':
            for (const effect of kindsOf(['started', 'committed', 'unknown']))
              expect(effect.kind).toBe('read');
            expect(kindsOf(['undo_failed', 'blocked'])).toEqual([]);
            break;
          case 'COMPENSATION_FAILED':
            for (const effect of kindsOf(['started', 'committed', 'unknown'])) {
              expect(['read', 'irreversible']).toContain(effect.kind);
            }
            break;
          default:
            expect.unreachable(`ended as ${state.status}`);
        }
        const undone = entries.flatMap((entry) =>
          entry.direction === 'undo' && entry.status === 'started' && entry.attempt === 1
            ? [entry.stepIndex]
            : [],
        );
        expect(undone).toEqual([...new Set(undone)].sort((a, b) => b - a));
        // Intent first: every outcome has its start before it, every started compensatable that may stand was undone (S1).
        for (const entry of entries) {
          if (entry.direction !== 'forward' || entry.status === 'started') continue;
          expect(
            entries.some(
              (one) =>
                one.direction === 'forward' &&
                one.status === 'started' &&
                one.seq < entry.seq &&
                one.stepIndex === entry.stepIndex &&
                one.attempt === entry.attempt,
            ),
          ).toBe(true);
        }
        const forward = entries.flatMap((entry) =>
          entry.direction === 'forward' ? [[entry.stepIndex, entry.idempotencyKey] as const] : [],
        );
        for (const [step, key] of forward) expect(key).toBe(idempotencyKey('s', step, 0));
      }),
      { seed: SEED, numRuns: 400 },
    );
  });

  test('never does anything before a lost call cannot act any more (S3)', () => {
    fc.assert(
      fc.property(plans, turns, (plan, script) => {
        const { entries } = simulate(plan, script);
        let openUntil = 0;
        for (const entry of entries) {
          if (!('stepIndex' in entry) || entry.direction === 'approval' || entry.direction === 'operator')
            continue;
          if (entry.status === 'started') {
            expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(openUntil);
            openUntil = 0;
          }
          const lost =
            (entry.direction === 'forward' || entry.direction === 'undo') && entry.status === 'unknown';
          if (lost) {
            const started = entries.findLast(
              (one) => one.seq < entry.seq && one.status === 'started' && one.direction === entry.direction,
            );
            // A read changes nothing, so nothing of it can come late.
            if (started !== undefined && 'effect' in started && started.effect === 'read') continue;
            if (started !== undefined && 'deadlineMs' in started) openUntil = started.deadlineMs + 5000;
          }
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
