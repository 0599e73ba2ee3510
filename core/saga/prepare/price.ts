/**
 * Finds what an effect moved and how much of it was taken back, in money, and where people see it. The tool's
 * expressions are evaluated over what is in the ledger and in the answer. A bad value is named as a problem.
 * It never changes an outcome, and never stops an undo from being recorded.
 */
import { reversed } from '../../../contract/amount-direction.ts';
import type { Json, JsonObject } from '../../../contract/json.ts';
import { clip } from '../../shared/clip.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import { readExternalUrl } from '../model/external-url.ts';
import type { LedgerEntry, LinkedFact, PricedFact, SagaError } from '../model/ledger-entry.ts';
import { isMoney, type Money, readMoney } from '../model/money.ts';
import type { PinnedStep, PinnedToolStep } from '../model/plan.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import { evaluateExpression } from '../plan/expressions.ts';
import type { Evaluate } from '../ports.ts';
import type { Reading } from './reading.ts';

type OutcomeEvent = SagaEvent & { type: 'outcome' };

/** What a call moved and where people see that, before it is decided what its answer means. */
export type Price = (
  reading: Reading,
  state: SagaState,
  step: PinnedStep,
  event: OutcomeEvent,
) => Promise<OutcomeEvent>;

const MAX_PROBLEM = 300;

const shortened = ({ name, message }: SagaError): SagaError => ({
  name,
  message: clip(message, MAX_PROBLEM),
});

interface Expressions {
  amount: string;
  currency: string;
  minorUnits?: boolean | undefined;
}

/** Evaluates both at once, so that a costly pair stays within the limit of one step. */
const moneyOf = async (
  { amount, currency, minorUnits = false }: Expressions,
  scope: JsonObject,
  evaluate: Evaluate,
): Promise<Money | SagaError> => {
  try {
    const amountOf = await evaluateExpression(amount, scope, evaluate);
    return readMoney(amountOf, await evaluateExpression(currency, scope, evaluate), minorUnits);
  } catch (error) {
    // This includes an evaluator that does not start. The outcome matters more, and the result is in the
    // ledger.
    if (!isWalkbackError(error)) throw error;
    return { name: 'AmountUnresolved', message: error.message };
  }
};

type Direction = Pick<PricedFact, 'amountDirection'>;

const pricedFact = (money: Money | SagaError, direction: Direction): PricedFact => ({
  ...(isMoney(money) ? money : { amountProblem: shortened(money) }),
  ...direction,
});

const directionOf = ({ amountDirection }: PinnedToolStep): Direction =>
  amountDirection === undefined ? {} : { amountDirection };

const undoDirectionOf = ({ amountDirection }: PinnedToolStep): Direction =>
  amountDirection === undefined ? {} : { amountDirection: reversed(amountDirection) };

const linkOf = async (source: string, scope: JsonObject, evaluate: Evaluate): Promise<LinkedFact> => {
  try {
    const url = readExternalUrl(await evaluateExpression(source, scope, evaluate));
    return typeof url === 'string' ? { externalUrl: url } : { externalUrlProblem: shortened(url) };
  } catch (error) {
    if (!isWalkbackError(error)) throw error;
    return { externalUrlProblem: shortened({ name: 'UrlUnresolved', message: error.message }) };
  }
};

const entryAt = async ({ store, head }: Reading, seq: number | null): Promise<LedgerEntry | undefined> =>
  seq === null ? undefined : store.getEntry(head.sagaId, seq);

const argumentsOf = async (reading: Reading, effect: EffectRecord): Promise<JsonObject> => {
  const entry = await entryAt(reading, effect.startSeq);
  return entry?.direction === 'forward' && entry.status === 'started' ? (entry.arguments ?? {}) : {};
};

type Committed = Extract<OutcomeEvent['outcome'], { outcome: 'committed' }>;

/** What a tool's expressions see when its call took effect. */
const scopeOf = async (
  reading: Reading,
  effect: EffectRecord,
  { result, externalRef }: Committed,
): Promise<JsonObject> => ({
  arguments: await argumentsOf(reading, effect),
  result,
  externalRef: externalRef ?? null,
});

const isCommitted = (entry: LedgerEntry | undefined): entry is LedgerEntry & { result: Json } & PricedFact =>
  entry !== undefined && entry.status === 'committed' && 'result' in entry;

/** The whole amount, unless the tool says how much its compensator takes back. */
const undoPrice = async (
  reading: Reading,
  effect: EffectRecord,
  step: PinnedToolStep,
  undone: Json,
  evaluate: Evaluate,
): Promise<PricedFact> => {
  const { compensation, minorUnits } = step;
  const direction = undoDirectionOf(step);
  const committed = await entryAt(reading, effect.endSeq);
  // Without a known effect, no known amount was moved.
  if (!isCommitted(committed)) return {};
  const { amount, currency } = committed;
  if (compensation?.amount === undefined) {
    return amount === undefined || currency === undefined ? {} : { amount, currency, ...direction };
  }
  if (compensation.currency === undefined && currency === undefined) return {};
  const expressions = {
    amount: compensation.amount,
    currency: compensation.currency ?? JSON.stringify(currency),
    minorUnits,
  };
  const scope = {
    arguments: await argumentsOf(reading, effect),
    result: committed.result,
    externalRef: ('externalRef' in committed ? committed.externalRef : undefined) ?? null,
    undone,
  };
  return pricedFact(await moneyOf(expressions, scope, evaluate), direction);
};

/** The compensator's answer when nothing is left of the effect; undefined when something may be left. */
const undoneResult = (outcome: OutcomeEvent['outcome']): Json | undefined => {
  switch (outcome.outcome) {
    case 'committed':
      return outcome.result;
    // The compensator found nothing to undo, which counts as undone (decide-outcome.ts).
    case 'absent':
      return null;
    case 'rejected':
    case 'unknown':
      return undefined;
  }
};

export const createPrice =
  (evaluate: Evaluate): Price =>
  async (reading, state, step, event) => {
    const { outcome, operation } = event;
    const effect = state.effects[operation.effect];
    if (step.kind === 'children' || effect === undefined) return event;
    const { amount, currency, minorUnits, externalUrl } = step;
    const isPriced = amount !== undefined && currency !== undefined;
    if (operation.direction === 'undo') {
      const undone = isPriced ? undoneResult(outcome) : undefined;
      return undone === undefined
        ? event
        : { ...event, price: await undoPrice(reading, effect, step, undone, evaluate) };
    }
    if (outcome.outcome !== 'committed' || (!isPriced && externalUrl === undefined)) return event;
    const scope = await scopeOf(reading, effect, outcome);
    return {
      ...event,
      ...(isPriced && {
        price: pricedFact(
          await moneyOf({ amount, currency, minorUnits }, scope, evaluate),
          directionOf(step),
        ),
      }),
      ...(externalUrl !== undefined && { link: await linkOf(externalUrl, scope, evaluate) }),
    };
  };

/** What a step would move, when it follows from the arguments alone. The person who approves it is shown this. */
export const expectedMoney = async (
  { amount, currency, minorUnits }: PinnedToolStep,
  given: JsonObject,
  evaluate: Evaluate,
): Promise<Money | undefined> => {
  if (amount === undefined || currency === undefined) return undefined;
  const money = await moneyOf({ amount, currency, minorUnits }, { arguments: given }, evaluate);
  return isMoney(money) ? money : undefined;
};
