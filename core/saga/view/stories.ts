/** Gathers what the ledger records of each step, in one pass. */
import type { Json } from '../../../contract/json.ts';
import type { ObservedStep } from '../../../contract/saga-observation.ts';
import { acceptanceKey, createAcceptances, reasonIn } from '../entries/acceptances.ts';
import type { ToldEntry } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry, SagaError } from '../model/ledger-entry.ts';
import type { Money } from '../model/money.ts';
import type { EffectRecord } from '../model/state.ts';

export interface Story {
  effect: EffectRecord;
  step: string;
  tool: string;
  /** The forward key. The provider knows the call by it, even one whose answer was lost. */
  idempotencyKey: string | null;
  externalRef: string | null;
  /** The address where its provider shows it. */
  externalUrl?: string;
  /** What the call that took effect moved. */
  money?: Money;
  resourceKey?: string;
  residue?: string;
  /** Error of the last failed compensator. */
  undoError?: SagaError;
  evidence?: string;
  /** An undo or a rewind was allowed to leave it. */
  accepted?: { by: string; reason: string | null };
  /** For a submitted step: the message that it belongs to, and when it came. */
  submitted?: { sessionId: string | null; messageId: string | null; createdAt: string };
  /** The place of its result in the ledger, and the result. */
  result?: { seq: number; value?: Json };
}

type StepEntry = Extract<LedgerEntry, { step: string }> & Pick<ToldEntry, 'leftOut'>;

const told = (story: Story, entry: StepEntry): void => {
  if (entry.direction === 'step' && entry.status === 'submitted') {
    const { sessionId = null, messageId = null, at: createdAt } = entry;
    story.submitted = { sessionId, messageId, createdAt };
  }
  if (entry.direction !== 'undo' && 'externalRef' in entry && entry.externalRef !== undefined) {
    story.externalRef = entry.externalRef;
  }
  if (entry.direction === 'forward' && entry.status === 'started') {
    story.idempotencyKey = entry.idempotencyKey;
    if (entry.resourceKey !== undefined) story.resourceKey = entry.resourceKey;
  }
  if (entry.direction === 'undo' && entry.status === 'committed') {
    const { residue } = entry;
    if (residue !== undefined) story.residue = residue;
  }
  if (entry.direction !== 'undo' && entry.status === 'committed') {
    const { amount, currency } = entry;
    if (amount !== undefined && currency !== undefined) story.money = { amount, currency };
    if ('externalUrl' in entry && entry.externalUrl !== undefined) story.externalUrl = entry.externalUrl;
  }
  if (entry.direction === 'undo' && 'error' in entry) story.undoError = entry.error;
  if (entry.direction === 'operator' && entry.evidence !== undefined) story.evidence = entry.evidence;
  if (entry.status === 'committed' && 'result' in entry && entry.error === undefined) {
    story.result = { seq: entry.seq, ...(entry.leftOut === true ? {} : { value: entry.result }) };
  }
};

/** One story for each effect, in order of start. */
export const storiesOf = ({ state }: SagaHead, entries: readonly ToldEntry[]): Story[] => {
  const stories = new Map<string, Story>();
  for (const effect of state.effects) {
    const unknown = { step: '?', tool: '?', idempotencyKey: null, externalRef: null };
    stories.set(acceptanceKey({ stepIndex: effect.step, epoch: effect.epoch }), { effect, ...unknown });
  }
  const acceptances = createAcceptances();
  for (const entry of entries) {
    for (const { places, request } of acceptances.add(entry)) {
      for (const place of places) {
        const story = stories.get(place);
        if (story !== undefined) story.accepted = { by: request.actor, reason: reasonIn(request) };
      }
    }
    if (!('step' in entry)) continue;
    const story = stories.get(acceptanceKey(entry));
    if (story === undefined) continue;
    story.step = entry.step;
    story.tool = entry.tool;
    told(story, entry);
  }
  return [...stories.values()];
};

/** One line of an observation. */
export const observed = ({ step, tool, externalRef, externalUrl, effect, money }: Story): ObservedStep => ({
  step,
  tool,
  externalRef,
  ...(externalUrl === undefined ? {} : { externalUrl }),
  ...money,
  ...(effect.epoch > 0 ? { epoch: effect.epoch } : {}),
});
