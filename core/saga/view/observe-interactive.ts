/** What an observation adds for a saga whose steps are submitted one by one. */
import type { Observation } from '../../../contract/saga-observation.ts';
import { clip } from '../../shared/clip.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry, SagaError } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import type { Story } from './stories.ts';

type Interactive = NonNullable<Observation['interactive']>;

/** The newest ones are listed. All are in the ledger. */
const MAX_REJECTED = 20;

const MAX_REASON = 200;

/** Whose turn it is. */
export const interactiveView = ({ state }: SagaHead): Pick<Interactive, 'what' | 'until' | 'asked'> => {
  if (state.phase === 'done') return { what: 'closed' };
  const { wait } = state;
  if (wait?.kind === 'parked') return { what: 'parked' };
  if (wait?.kind !== 'next-step') return { what: 'step' };
  return {
    what: 'next-step',
    ...(wait.asked === true ? { asked: true } : { until: new Date(wait.untilMs).toISOString() }),
  };
};

const told = (error: SagaError): SagaError => ({
  name: error.name,
  message: clip(error.message, MAX_REASON),
});

/** Steps without effect: refused before they began, or rejected by their tool. */
const rejectedOf = (stories: readonly Story[], entries: readonly LedgerEntry[]): Observation['rejected'] => {
  const clean = new Set(
    stories.filter(({ effect }) => effect.status === 'rejected').map(({ effect }) => effect.step),
  );
  const last = new Map<number, NonNullable<Observation['rejected']>[number]>();
  for (const entry of entries) {
    const isFinal =
      (entry.direction === 'step' && entry.status === 'refused') ||
      (entry.direction === 'forward' && entry.status === 'rejected' && clean.has(entry.stepIndex));
    if (isFinal) last.set(entry.stepIndex, { step: entry.step, tool: entry.tool, error: told(entry.error) });
  }
  return [...last.values()].slice(-MAX_REJECTED);
};

export const interactiveOf = (
  head: SagaHead,
  stories: readonly Story[],
  entries: readonly LedgerEntry[],
): Pick<Observation, 'interactive' | 'rejected'> => {
  const { interactive, submitted } = head.state;
  if (interactive === undefined) return {};
  const rejected = rejectedOf(stories, entries);
  const parked = entries.findLast(({ status }) => status === 'parked');
  const isParked = head.state.wait?.kind === 'parked' && parked?.status === 'parked';
  return {
    interactive: {
      ...interactiveView(head),
      ...(submitted === undefined ? {} : { step: submitted.step }),
      onIdle: interactive.onIdle,
      ...(isParked ? { summary: parked.summary } : {}),
      ...(isParked && parked.checkpointId !== undefined ? { checkpointId: parked.checkpointId } : {}),
    },
    ...(rejected === undefined || rejected.length === 0 ? {} : { rejected }),
  };
};

/** Nothing moves by itself. The model is told that it is its turn. */
export const idleAdvice = ({ phase, wait, undoFrom }: SagaState): string | undefined => {
  if (phase === 'forward' && wait?.kind === 'next-step') {
    return wait.asked === true
      ? 'No step came in time, and people were told. Submit the next step, or close the saga.'
      : 'The saga waits for its next step: submit it, or close the saga. Do not repeat a step that stands.';
  }
  return phase === 'undo' && undoFrom !== undefined
    ? 'The last step is being taken back; the steps before it stand. Wait until it ends.'
    : undefined;
};
