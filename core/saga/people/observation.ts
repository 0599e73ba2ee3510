/** What the model and people are told of a saga (S12): derived from the ledger, nothing else. */
import type { Observation, ObservedStep, SagaStatus } from '../../../contract/saga-answers.ts';
import { isResidue } from '../decide/decide-undo.ts';
import type { EffectRecord, LedgerEntry, SagaHead } from '../model.ts';

type StepEntry = Extract<LedgerEntry, { step: string }>;

interface Story extends ObservedStep {
  effect: EffectRecord;
  residue?: string;
  undoError?: string;
  evidence?: string;
}

const tell = (effect: EffectRecord, entries: readonly LedgerEntry[]): Story => {
  const mine = entries.filter(
    (entry): entry is StepEntry =>
      'step' in entry && entry.stepIndex === effect.step && entry.epoch === effect.epoch,
  );
  const story: Story = { step: mine[0]?.step ?? '?', tool: mine[0]?.tool ?? '?', externalRef: null, effect };
  for (const entry of mine) {
    if (entry.direction !== 'undo' && 'externalRef' in entry && entry.externalRef !== undefined) {
      story.externalRef = entry.externalRef;
    }
    if (entry.direction === 'undo' && entry.status === 'committed' && entry.residue !== undefined) {
      story.residue = entry.residue;
    }
    if (entry.direction === 'undo' && (entry.status === 'failed' || entry.status === 'blocked')) {
      story.undoError = `${entry.error.name}: ${entry.error.message}`;
    }
    if (entry.direction === 'operator' && entry.evidence !== undefined) story.evidence = entry.evidence;
  }
  return story;
};

const observed = ({ step, tool, externalRef }: Story): ObservedStep => ({ step, tool, externalRef });

/** A reason is for reading; the whole message is in the ledger. */
const MAX_REASON_LENGTH = 1000;

const reasonOf = (story: Story): string => {
  const { status, kind } = story.effect;
  if (status === 'skipped') return `skipped by an operator: ${story.evidence ?? 'no reason given'}`;
  if (status === 'blocked') return `blocked: ${story.undoError ?? ''}`;
  if (status === 'undo_failed') return `compensation failed: ${story.undoError ?? ''}`;
  if (kind === 'irreversible') {
    return status === 'committed' ? 'irreversible' : 'irreversible, and it is not known whether it happened';
  }
  return 'not undone yet';
};

const ADVICE: Record<SagaStatus, string> = {
  RUNNING: 'The saga is running. Ask again before you act on it.',
  PAUSED: 'The saga pauses before it goes on. Ask again before you act on it.',
  AWAITING: 'The saga waits for a person to approve or reject. Do not start it again.',
  COMPENSATING:
    'The saga failed or was cancelled and is being undone. Wait until it ends before you try anything else.',
  COMPLETED: 'All steps are done. Do not repeat any of them.',
  COMPENSATED:
    'Nothing of this saga stands: every effect was undone. Fix the reason of the failure, then start a new saga; do not call the tools yourself.',
  COMPENSATION_FAILED:
    'Some effects could not be undone and an operator was alerted. Do not retry and do not try to undo them yourself; report the references.',
};

const adviceOf = (head: SagaHead, left: Observation['notCompensated'], partly: boolean): string => {
  if (head.state.status === 'COMPENSATED' && (left.length > 0 || partly)) {
    return 'The saga was undone except for what is listed as not compensated or as residue. Do not start it again before that is looked at.';
  }
  return ADVICE[head.state.status];
};

const awaitingOf = (head: SagaHead, entries: readonly LedgerEntry[]): Observation['awaiting'] => {
  const { wait } = head.state;
  if (wait === null) return undefined;
  const request = entries.findLast((entry) => entry.direction === 'approval' && entry.status === 'requested');
  if (request?.direction !== 'approval' || request.status !== 'requested') return undefined;
  const { step, tool, version, prompt, argumentsHash } = request;
  const until = new Date(wait.untilMs).toISOString();
  const promptBy = head.definition === undefined ? 'agent' : 'template';
  return {
    kind: 'approval',
    step,
    tool,
    version,
    ...(request.arguments && { arguments: request.arguments }),
    ...(argumentsHash && { argumentsHash }),
    until,
    ...(prompt !== undefined && { prompt, promptBy }),
  };
};

/** The observation of a saga: `entries` is its whole ledger, oldest first; arguments and results are not looked at. */
export const observe = (head: SagaHead, entries: readonly LedgerEntry[]): Observation => {
  const unwound =
    head.state.phase === 'undo' ||
    head.state.status === 'COMPENSATED' ||
    head.state.status === 'COMPENSATION_FAILED';
  const stories = head.state.effects.map((effect) => tell(effect, entries));
  const committed = stories.filter(({ effect }) => effect.status === 'committed' && effect.kind !== 'read');
  const compensated = stories.filter(
    ({ effect }) => effect.status === 'undone' || effect.status === 'resolved',
  );
  const left = stories.filter(({ effect }) => effect.status === 'skipped' || (unwound && isResidue(effect)));
  const notCompensated = left.map((story) => ({
    ...observed(story),
    reason: reasonOf(story).slice(0, MAX_REASON_LENGTH),
  }));
  const awaiting = awaitingOf(head, entries);
  return {
    sagaId: head.sagaId,
    status: head.state.status,
    committed: committed.map(observed),
    compensated: compensated.map((story) => ({
      ...observed(story),
      ...(story.residue === undefined ? {} : { residue: story.residue }),
      ...(story.effect.status === 'resolved' ? { byHand: story.evidence ?? '' } : {}),
    })),
    notCompensated,
    ...(head.state.failure === null ? {} : { failed: head.state.failure }),
    ...(awaiting === undefined ? {} : { awaiting }),
    advice: adviceOf(
      head,
      notCompensated,
      compensated.some(({ residue }) => residue !== undefined),
    ),
  };
};
