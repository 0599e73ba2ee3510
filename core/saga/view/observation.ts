/** Builds the description of a saga for the model and for people (S12), from the ledger alone. */
import type { Observation, SagaStatus } from '../../../contract/saga-observation.ts';
import { MIB } from '../../../contract/sizes.ts';
import { clip, clipJson } from '../../shared/clip.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { branchesFailedIn, isLeftOver } from '../decide/effects.ts';
import { MAX_TOLD_RESULT_BYTES, type ToldEntry } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { approvalsOf } from './approvals.ts';
import { doingOf, failedOf } from './doing.ts';
import { idleAdvice, interactiveOf } from './observe-interactive.ts';
import { observed, type Story, storiesOf } from './stories.ts';
import { alertOf } from './told-alert.ts';
import { guidanceOf, REWIND_ADVICE, rewindOf } from './told-rewind.ts';
import { letStandReason } from './undo-plan.ts';

/** A reason is cut to a readable length. The whole message is in the ledger. */
const MAX_REASON_LENGTH = 1000;

/** All reasons together. A Lambda answer has at most 6 MB, and the references have to fit beside them. */
const MAX_REASONS_BYTES = MIB;

const MAX_ERROR_LENGTH = 200;

/** The model is shown results only while they are small. All of them are in the ledger, at `seq`. */
const MAX_RESULTS_BYTES = 32 * 1024;

const resultsOf = (stories: readonly Story[]): Observation['results'] => {
  let roomBytes = MAX_RESULTS_BYTES;
  return stories.flatMap(({ step, result }) => {
    if (result === undefined) return [];
    const { seq, value } = result;
    if (value === undefined) return [{ step, seq }];
    const sizeBytes = jsonBytes(value);
    if (sizeBytes > Math.min(MAX_TOLD_RESULT_BYTES, roomBytes)) return [{ step, seq }];
    roomBytes -= sizeBytes;
    return [{ step, seq, result: value }];
  });
};

const undoErrorOf = ({ undoError }: Story): string =>
  undoError === undefined ? '' : `${undoError.name}: ${undoError.message}`;

/**
 * When a delayed compensator may be called again; others may be called before it. Undefined while it is being
 * called.
 */
const nextAttemptOf = ({ state: { effects, operation } }: SagaHead, { effect }: Story): string | undefined =>
  effect.status !== 'undo_delayed' ||
  effect.undo === undefined ||
  (operation !== null && effects[operation.effect] === effect)
    ? undefined
    : new Date(effect.undo.untilMs).toISOString();

const reasonOf = (story: Story, nextAttempt: string | undefined): string => {
  const { status, kind } = story.effect;
  if (status === 'undo_delayed') {
    const again = nextAttempt === undefined ? 'called again now' : `called again from ${nextAttempt} on`;
    return `compensation delayed; ${again}: ${undoErrorOf(story)}`;
  }
  if (status === 'skipped') return letStandReason(story);
  if (status === 'blocked') return `blocked: ${undoErrorOf(story)}`;
  if (status === 'undo_failed') return `compensation failed: ${undoErrorOf(story)}`;
  if (kind === 'irreversible') {
    return status === 'committed' ? 'irreversible' : 'irreversible, and it is not known whether it happened';
  }
  return 'not undone yet';
};

/** For the model. People are told other words (present/saga-next.ts). */
const ADVICE: Record<SagaStatus, string> = {
  QUEUED: 'The saga waits until its project has room for it. Do not start it again.',
  RUNNING: 'The saga is running. Ask again before you act on it.',
  PAUSED: 'The saga pauses before it goes on. Ask again before you act on it.',
  PARKED:
    'The saga was put aside: what it did stands. Resume it before you go on, or go on in another session.',
  AWAITING: 'The saga waits for a person to approve or reject. Do not start it again.',
  COMPENSATING:
    'The saga failed or was cancelled and is being undone. Wait until it ends before you try anything else.',
  COMPLETED: 'All steps are done. Do not repeat any of them.',
  COMPENSATED:
    'Nothing of this saga stands: every effect was undone. Fix the reason of the failure, then start a new saga; do not call the tools yourself.',
  COMPENSATION_FAILED:
    'Some effects could not be undone, and a person has to repair them. Do not retry and do not try to undo them yourself; report the references.',
};

const COMPLETED_IN_PART =
  'The steps are done, but some of their branches failed, and what those did was undone: results and children say which. Do not repeat what stands.';

const adviceOf = (head: SagaHead, left: Observation['notCompensated'], partly: boolean): string => {
  if (head.state.rewind !== undefined) {
    return head.state.status === 'COMPENSATION_FAILED' ? REWIND_ADVICE.stopped : REWIND_ADVICE.undoing;
  }
  if (head.state.status === 'COMPENSATED' && (left.length > 0 || partly)) {
    return 'The saga was undone except for what is listed as not compensated or as residue. Do not start it again before that is looked at.';
  }
  if (head.state.undoRequested === true && head.state.status !== 'COMPENSATION_FAILED') {
    return 'An operator has the finished saga undone. Do not start it again unless you are told to.';
  }
  if (head.state.status === 'COMPLETED' && branchesFailedIn(head.state) > 0) return COMPLETED_IN_PART;
  return idleAdvice(head.state) ?? ADVICE[head.state.status];
};

type Wait = NonNullable<SagaHead['state']['wait']>;

const approvalOf = (
  head: SagaHead,
  wait: Extract<Wait, { kind: 'approval' }>,
  entries: readonly LedgerEntry[],
): Observation['awaiting'] => {
  const request = entries.findLast((entry) => entry.direction === 'approval' && entry.status === 'requested');
  if (request?.direction !== 'approval' || request.status !== 'requested') return undefined;
  const { step, tool, version, prompt, argumentsHash, epoch, amount, currency } = request;
  const until = new Date(wait.untilMs).toISOString();
  const promptBy = head.definition === undefined ? 'agent' : 'template';
  return {
    kind: 'approval',
    step,
    tool,
    version,
    arguments: request.arguments,
    argumentsHash,
    ...(epoch > 0 && { epoch }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    until,
    ...(prompt !== undefined && { prompt, promptBy }),
  };
};

/** A wait of each kind, described for people. */
const awaitingOf = (head: SagaHead, entries: readonly LedgerEntry[]): Observation['awaiting'] => {
  const { wait } = head.state;
  switch (wait?.kind) {
    case undefined:
    // Described by `doing`, because nobody has to answer.
    case 'resource':
    case 'slot':
      return undefined;
    case 'approval':
      return approvalOf(head, wait, entries);
    case 'next-step':
    case 'parked':
    // This saga needs no person, but a child may wait for one.
    case 'children':
      return undefined;
  }
};

const notCompensatedOf = (
  head: SagaHead,
  story: Story,
  reasonBytes: number,
): Observation['notCompensated'][number] => {
  const { undoError, idempotencyKey, effect } = story;
  const nextAttempt = nextAttemptOf(head, story);
  const failed =
    effect.status === 'undo_delayed' || effect.status === 'undo_failed' || effect.status === 'blocked';
  return {
    ...observed(story),
    reason: clipJson(clip(reasonOf(story, nextAttempt), MAX_REASON_LENGTH), reasonBytes),
    ...(effect.children === true ? { children: true } : {}),
    ...(effect.status === 'skipped' ? { accepted: true } : {}),
    // A step that runs sagas has no key that a provider knows.
    ...(idempotencyKey === null || effect.children === true ? {} : { idempotencyKey }),
    ...(story.resourceKey === undefined ? {} : { resourceKey: story.resourceKey }),
    ...(failed && undoError !== undefined
      ? { error: { name: undoError.name, message: clip(undoError.message, MAX_ERROR_LENGTH) } }
      : {}),
    ...(nextAttempt === undefined ? {} : { nextAttempt }),
  };
};

const compensatedOf = (story: Story): Observation['compensated'][number] => ({
  ...observed(story),
  ...(story.residue === undefined ? {} : { residue: story.residue }),
  ...(story.effect.status === 'resolved' ? { byHand: story.evidence ?? '' } : {}),
});

const sessionOf = ({ sessionId, messageId }: SagaHead): Pick<Observation, 'session'> =>
  sessionId === undefined
    ? {}
    : { session: { sessionId, ...(messageId === undefined ? {} : { messageId }) } };

/** What the sagas below left. Their parent's observation says it too. */
export type LeftBelow = Pick<Observation, 'compensated' | 'notCompensated'>;

/** The one place that makes an observation, from the folded state and the whole ledger, oldest first. */
export const observe = (
  head: SagaHead,
  entries: readonly ToldEntry[],
  below: LeftBelow = { compensated: [], notCompensated: [] },
): Observation => {
  const unwound =
    head.state.phase === 'undo' ||
    head.state.status === 'COMPENSATED' ||
    head.state.status === 'COMPENSATION_FAILED';
  const stories = storiesOf(head, entries);
  const committed = stories.filter(({ effect }) => effect.status === 'committed' && effect.kind !== 'read');
  const undone = stories.filter(({ effect }) => effect.status === 'undone' || effect.status === 'resolved');
  const compensated = [...undone.map(compensatedOf), ...below.compensated];
  const left = stories.filter(
    ({ effect }, index) => effect.status === 'skipped' || (unwound && isLeftOver(head.state, effect, index)),
  );
  const reasonBytes = Math.floor(MAX_REASONS_BYTES / left.length);
  const notCompensated = [
    ...left.map((story) => notCompensatedOf(head, story, reasonBytes)),
    ...below.notCompensated,
  ];
  const awaiting = awaitingOf(head, entries);
  const doing = doingOf(head, entries, stories);
  const failed = failedOf(head, entries);
  const branchesFailed = branchesFailedIn(head.state);
  return {
    ...guidanceOf(entries),
    sagaId: head.sagaId,
    status: head.state.status,
    ...(head.state.epoch > 0 ? { epoch: head.state.epoch } : {}),
    ...rewindOf(head, entries),
    ...(head.definition === undefined ? {} : { definition: head.definition }),
    requestedBy: head.requestedBy,
    ...sessionOf(head),
    ...(head.project === undefined ? {} : { project: head.project }),
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    ...(doing === undefined ? {} : { doing }),
    committed: committed.map(observed),
    compensated,
    notCompensated,
    results: resultsOf(stories),
    ...(failed === undefined ? {} : { failed }),
    ...alertOf(head, entries),
    ...(awaiting === undefined ? {} : { awaiting }),
    ...approvalsOf(entries),
    ...interactiveOf(head, stories, entries),
    ...(branchesFailed === 0 ? {} : { branchesFailed }),
    advice: adviceOf(
      head,
      notCompensated,
      compensated.some(({ residue }) => residue !== undefined),
    ),
  };
};
