/** Any plan, and anything that happens to it, run through `decide` alone. */
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { applyFacts, decide } from '../../core/saga/decide/decide.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import type { Outcome, SagaEvent, Surroundings } from '../../core/saga/decide/saga-events.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import type { PinnedToolStep } from '../../core/saga/model/plan.ts';
import { approvalStep, type SagaState } from '../../core/saga/model/state.ts';
import type { CompensationRetry, EffectKind } from '../../core/saga/model/tool.ts';

const RETRY = { maxAttempts: 2, backoffSeconds: 1, backoffRate: 2, maxBackoffSeconds: 10 };

export const stepOf = (
  index: number,
  effect: EffectKind,
  more: Partial<PinnedToolStep> = {},
): PinnedToolStep => ({
  index,
  id: `s${index}`,
  tool: `tool_${effect}`,
  version: '1',
  functionName: 'fn',
  arguments: {},
  uses: [],
  effect,
  timeoutSeconds: 10,
  retry: RETRY,
  idempotencyWindowSeconds: 3600,
  replaysErrors: false,
  probe: true,
  ...(effect === 'compensatable' || effect === 'partial'
    ? { compensation: { name: 'undo', timeoutSeconds: 10, retry: RETRY } }
    : {}),
  ...more,
});

const kinds = fc.constantFrom<EffectKind>('read', 'compensatable', 'partial', 'irreversible');

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constant<Outcome>({ outcome: 'committed', result: { ok: true }, externalRef: 'ref' }),
  fc.record({
    outcome: fc.constant('rejected' as const),
    error: fc.constant({ name: 'No', message: 'no' }),
    retryable: fc.boolean(),
  }),
  fc.record({ unreached: fc.boolean(), seconds: fc.constantFrom(undefined, 0, 1, 59, 3600, 1e9) }).map(
    ({ unreached, seconds }): Outcome => ({
      outcome: 'rejected',
      error: { name: 'Later', message: 'later' },
      retryable: true,
      ...(unreached ? { reached: false } : {}),
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    }),
  ),
  fc.record({
    outcome: fc.constant('unknown' as const),
    error: fc.constant({ name: 'Lost', message: 'lost' }),
    answered: fc.boolean(),
  }),
  fc.constant<Outcome>({ outcome: 'absent' }),
);

/** What the world does at each turn, drawn at random. */
interface Turn {
  outcome: Outcome;
  cancel: boolean;
  dies: boolean;
  repeats: boolean;
  approve: 'approve' | 'reject' | 'expire';
}
export const turns = fc.array(
  fc.record({
    outcome: outcomes,
    cancel: fc.integer({ min: 0, max: 15 }).map((n) => n === 0),
    dies: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    repeats: fc.boolean(),
    approve: fc.constantFrom('approve' as const, 'reject' as const, 'expire' as const),
  }),
  { minLength: 60, maxLength: 60 },
);

/** Policies of compensators: one with a number of attempts alone, and ones that put it aside at once, soon, or when an attempt or two have failed. */
const policies = fc.constantFrom<CompensationRetry>(
  RETRY,
  { ...RETRY, maxAttempts: 50, jitter: 0.5, delayedAfterSeconds: 0, giveUpAfterSeconds: 3600 },
  { ...RETRY, maxAttempts: 50, delayedAfterSeconds: 5, giveUpAfterSeconds: 30 },
  { ...RETRY, maxAttempts: 3, jitter: 1, delayedAfterSeconds: 1, giveUpAfterSeconds: 86_400 },
);

interface DrawnStep {
  kind: EffectKind;
  approval: boolean;
  probe: boolean;
  retry: CompensationRetry;
}

export const plans: fc.Arbitrary<DrawnStep[]> = fc.array(
  fc.record({ kind: kinds, approval: fc.boolean(), probe: fc.boolean(), retry: policies }),
  { minLength: 1, maxLength: 6 },
);

/** Runs a plan through `decide` alone, with the ledger kept beside it. */
export const simulate = (plan: readonly DrawnStep[], script: readonly Turn[]) => {
  const steps = plan.map(({ kind, approval, probe, retry }, index) => {
    const undoes = kind === 'compensatable' || kind === 'partial';
    return stepOf(index, kind, {
      probe,
      ...(approval ? { approval: { timeoutSeconds: 60 } } : {}),
      ...(undoes ? { compensation: { name: 'undo', timeoutSeconds: 10, retry } } : {}),
    });
  });
  let nowMs = 1_700_000_000_000;
  const startFact: Fact = {
    direction: 'saga',
    status: 'started',
    planHash: 'p',
    inputHash: 'i',
    stepCount: steps.length,
    requestHash: 'r',
  };
  let ledger = chain('s', { seq: 0, tip: GENESIS_HASH }, [startFact], {
    at: new Date(nowMs).toISOString(),
    actor: 'me',
  });
  const entries = [...ledger.entries];
  let state: SagaState = fold(entries);
  const invoked: { key: string; direction: string; attempt: number }[] = [];

  const tell = (event: SagaEvent) => {
    const index =
      state.operation === null ? approvalStep(state.wait) : state.effects[state.operation.effect]?.step;
    const currentStep = index === undefined ? undefined : steps[index];
    const around: Surroundings = {
      sagaId: 's',
      nowMs,
      ...(currentStep === undefined ? {} : { currentStep }),
    };
    const decision = decide(state, event, around, entries.length);
    state = applyFacts(state, decision.facts, { sagaId: 's', seq: entries.length, nowMs });
    ledger = chain('s', ledger.tip, decision.facts, { at: new Date(nowMs).toISOString(), actor: 'engine' });
    entries.push(...ledger.entries);
    return decision.next;
  };

  let next = tell({ type: 'begin' });
  for (let turn = 0; turn < 2000; turn += 1) {
    const draw = script[turn % script.length];
    if (draw === undefined) break;
    // Later on everything works, so that every run ends.
    const outcome: Outcome = turn < script.length ? draw.outcome : { outcome: 'committed', result: null };
    if (turn < script.length && draw.cancel) tell({ type: 'cancel' });
    if (turn < script.length && draw.dies) {
      tell({ type: 'resume', reason: 'its execution ended' });
      next = tell({ type: 'begin' });
    }
    switch (next.next) {
      case 'prepare': {
        const step = steps[next.step];
        if (step === undefined) throw new Error('no such step');
        next = tell({ type: 'prepared', step, arguments: {}, argumentsHash: 'h' });
        break;
      }
      case 'prepare-locks':
        throw new Error('no step is exclusive');
      case 'prepare-undo': {
        const step = steps[state.effects[next.effect]?.step ?? -1];
        if (step === undefined) throw new Error('no such effect');
        next = tell({ type: 'undo-prepared', effect: next.effect, step });
        break;
      }
      case 'invoke': {
        const { operation } = next;
        const effect = state.effects[operation.effect];
        invoked.push({
          key: String(effect?.step),
          direction: operation.direction,
          attempt: operation.attempt,
        });
        const event: SagaEvent = { type: 'outcome', operation, outcome };
        next = tell(event);
        // The same answer once more means nothing (S9).
        if (draw.repeats) {
          const before = entries.length;
          next = tell(event);
          expect(entries.length - before, 'a repeated answer adds no outcome').toBe(0);
        }
        break;
      }
      case 'await':
        if (draw.approve === 'expire') nowMs = next.untilMs;
        else tell({ type: 'answer', step: next.step, decision: draw.approve });
        next = tell({ type: 'continue' });
        break;
      case 'pause':
        nowMs = Math.max(nowMs + 1, next.untilMs);
        next = tell({ type: 'continue' });
        break;
      case 'idle':
      case 'hand-over':
        throw new Error('only interactive sagas do this');
      case 'none':
        next = tell({ type: 'continue' });
        break;
      case 'prepare-children':
      case 'prepare-output':
        throw new Error('these plans have no children and no output');
      case 'escalate':
      case 'end':
        return { state, entries, steps, invoked };
    }
  }
  throw new Error('the saga does not end');
};
