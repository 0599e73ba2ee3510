import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCsv } from '../../core/saga/csv.ts';
import { applyFacts, decide } from '../../core/saga/decide.ts';
import type { Outcome, SagaEvent, Surroundings } from '../../core/saga/events.ts';
import { fold } from '../../core/saga/fold.ts';
import { chain, findChainBreak, GENESIS_HASH } from '../../core/saga/hash-chain.ts';
import { canonicalJson, hashJson } from '../../core/saga/json.ts';
import { executionName, idempotencyKey } from '../../core/saga/keys.ts';
import { fromRow, toRow } from '../../core/saga/ledger-row.ts';
import type { EffectKind, EffectRecord, Fact, PinnedStep, SagaState } from '../../core/saga/model.ts';
import { packEffects, unpackEffects } from '../../core/saga/pack-state.ts';
import { isPinnedChunk, pinSteps } from '../../core/saga/pinned-steps.ts';

const RETRY = { maxAttempts: 2, backoffSeconds: 1, backoffRate: 2, maxBackoffSeconds: 10 };

const stepOf = (index: number, effect: EffectKind, more: Partial<PinnedStep> = {}): PinnedStep => ({
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
const turns = fc.array(
  fc.record({
    outcome: outcomes,
    cancel: fc.integer({ min: 0, max: 15 }).map((n) => n === 0),
    dies: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    repeats: fc.boolean(),
    approve: fc.constantFrom('approve' as const, 'reject' as const, 'expire' as const),
  }),
  { minLength: 60, maxLength: 60 },
);

const plans = fc.array(fc.record({ kind: kinds, approval: fc.boolean(), probe: fc.boolean() }), {
  minLength: 1,
  maxLength: 6,
});

/** Runs a plan through `decide` alone, with the ledger kept beside it. */
const simulate = (
  plan: { kind: EffectKind; approval: boolean; probe: boolean }[],
  script: readonly Turn[],
) => {
  const steps = plan.map(({ kind, approval, probe }, index) =>
    stepOf(index, kind, { probe, ...(approval ? { approval: { timeoutSeconds: 60 } } : {}) }),
  );
  let nowMs = 1_700_000_000_000;
  const startFact: Fact = {
    direction: 'saga',
    status: 'started',
    planHash: 'p',
    inputHash: 'i',
    stepCount: steps.length,
  };
  let ledger = chain('s', { seq: 0, tip: GENESIS_HASH }, [startFact], {
    at: new Date(nowMs).toISOString(),
    actor: 'me',
  });
  const entries = [...ledger.entries];
  let state: SagaState = fold(entries);
  const invoked: { key: string; direction: string; attempt: number }[] = [];

  const tell = (event: SagaEvent) => {
    const index = state.operation === null ? state.wait?.step : state.effects[state.operation.effect]?.step;
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
      case 'none':
        next = tell({ type: 'continue' });
        break;
      case 'escalate':
      case 'end':
        return { state, entries, steps, invoked };
    }
  }
  throw new Error('the saga does not end');
};

describe('the reducer, for any plan and anything that happens', () => {
  it('ends done, undone, or with every residue known; in order, once, and folding from its ledger', () => {
    fc.assert(
      fc.property(plans, turns, (plan, script) => {
        const { state, entries, steps } = simulate(plan, script);
        expect(fold(entries)).toEqual(state);
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
      { numRuns: 400 },
    );
  });

  it('never does anything before a lost call can not act any more (S3)', () => {
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
            if (started !== undefined && 'deadlineMs' in started) openUntil = started.deadlineMs + 5000;
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('keys', () => {
  it('carry saga, step, epoch and direction', () => {
    expect(idempotencyKey('r1', 3, 0)).toBe('r1:3');
    expect(idempotencyKey('r1', 3, 2)).toBe('r1:3@2');
    expect(idempotencyKey('r1', 3, 0, 'undo')).toBe('r1:3:undo');
    expect(idempotencyKey('r1', 3, 1, 'undo')).toBe('r1:3@1:undo');
  });

  it('give every saga and generation an execution name of its own that the service allows', () => {
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
    { direction: 'saga', status: 'started', planHash: 'p', inputHash: 'i', stepCount: 1 },
    { direction: 'saga', status: 'cancel_requested' },
    { direction: 'saga', status: 'compensated' },
  ];
  const { entries, tip } = chain('s', { seq: 0, tip: GENESIS_HASH }, facts, {
    at: '2026-01-01T00:00:00.000Z',
    actor: 'me',
  });

  it('shows where it was altered, cut in the middle, or cut at the end', () => {
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

  it('comes back from its rows as it was, whatever the errors in it are called', () => {
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

  it('opens in a spreadsheet without running anything', () => {
    const row = toRow({
      ...chain(
        's',
        { seq: 0, tip: GENESIS_HASH },
        [{ direction: 'saga', status: 'cancel_requested', evidence: 'x' }],
        {
          at: '2026-01-01T00:00:00.000Z',
          actor: '=HYPERLINK("http://evil","x")',
        },
      ).entries[0],
    } as never);
    const csv = toCsv([row, { ...row, external_ref: '+1,"2"', error: '@x\ny' }]);
    expect(csv).toContain(`"'=HYPERLINK(""http://evil"",""x"")"`);
    expect(csv).toContain(`"'+1,""2"""`);
    expect(csv).toContain(`"'@x\ny"`);
    expect(csv.startsWith('saga_id,seq,step_index,')).toBe(true);
  });
});

describe('pinned steps', () => {
  it('prove their place in the plan, however many they are; nothing else does', () => {
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
  it('canonical JSON does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(turned)).toBe(canonicalJson(value));
        expect(hashJson(turned)).toBe(hashJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('500 steps pack into less than a write unit', () => {
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
