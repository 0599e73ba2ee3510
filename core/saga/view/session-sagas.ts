/**
 * Finds what a session's sagas did after a point of the session. A saga with a plan belongs, with all that it
 * did, to the message of its start. The steps of an interactive saga have messages of their own, so only its
 * last steps may count.
 */
import type { PlacedSaga } from '../../checkpoint/ports/effects.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { isFinal, isUndoable } from '../decide/effects.ts';
import { readTrueLedger, type ToldEntry } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { EffectRecord } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';
import type { RewindTarget } from './rewind-target.ts';
import { type Story, storiesOf } from './stories.ts';

type Reads = Pick<SagaStore, 'getHead' | 'listBySession' | 'pageEntries'>;

const SAGAS_AT_ONCE = 8;

/** The place of the saga's start. */
const timelinePosition = ({ messageId, createdAt }: SagaHead): PlacedSaga => ({
  messageId: messageId ?? null,
  createdAt,
});

type IsMeant = (place: PlacedSaga) => boolean;

/** Whether a step counts. One that names no session belongs to the session in which its saga was started. */
export const isStepMeant = (
  { sessionId, ...place }: NonNullable<Story['submitted']>,
  head: SagaHead,
  asked: string,
  isMeant: IsMeant,
): boolean => (sessionId ?? head.sessionId) === asked && isMeant(place);

/** Whether the whole saga counts: it was started in this session, after the point. */
export const isSagaMeant = (head: SagaHead, asked: string, isMeant: IsMeant): boolean =>
  head.sessionId === asked && isMeant(timelinePosition(head));

/**
 * All sagas that were started in a session or took a step of it, in the order of their start. `known`: heads
 * that need not be read again.
 */
export const sessionSagas = async (
  store: Pick<SagaStore, 'getHead' | 'listBySession'>,
  sessionId: string,
  known: ReadonlyMap<string, SagaHead> = new Map(),
): Promise<SagaHead[]> => {
  const listed = await store.listBySession(sessionId);
  const heads = await mapAtOnce(
    listed,
    SAGAS_AT_ONCE,
    async ({ sagaId }) => known.get(sagaId) ?? store.getHead(sagaId),
  );
  return heads.filter((head) => head !== undefined);
};

/** The last steps of an interactive saga that began before the point. */
export interface LastSteps extends RewindTarget {
  /** Some of them are left to take back or to stop. */
  isLeft: boolean;
  /** When the first of them was submitted. */
  since: string;
  /**
   * Steps that are out of reach, because a later step stays: it belongs to another session, or to a message
   * before the point.
   */
  between: Story[];
}

/** Includes effects that could not be taken back. */
const isStanding = (effect: EffectRecord): boolean =>
  isUndoable(effect) ||
  isFinal(effect) ||
  effect.status === 'undo_failed' ||
  effect.status === 'blocked' ||
  effect.status === 'undo_delayed';

/** Reads stay too, because the agent knows their answers. */
const stays = ({ status }: EffectRecord): boolean => status !== 'rejected' && status !== 'undone';

/**
 * The step that was submitted last and has not begun yet: it waits for a person, a lock or a slot, or its
 * driver died.
 */
const waitingStep = ({ state }: SagaHead, entries: readonly ToldEntry[]) => {
  const { submitted, phase, wait, effects, epoch } = state;
  const isIdle = wait?.kind === 'next-step' || wait?.kind === 'parked';
  if (submitted === undefined || phase !== 'forward' || isIdle) return undefined;
  if (effects.some((effect) => effect.step === submitted.index && effect.epoch === epoch)) return undefined;
  const entry = entries.findLast((one) => one.direction === 'step' && one.status === 'submitted');
  if (entry?.direction !== 'step' || entry.status !== 'submitted') return undefined;
  const { sessionId = null, messageId = null, at: createdAt } = entry;
  return { sessionId, messageId, createdAt };
};

/** Undefined when none of its steps counts. */
const lastSteps = (
  head: SagaHead,
  entries: readonly ToldEntry[],
  sessionId: string,
  isMeant: IsMeant,
): LastSteps | undefined => {
  const stories = storiesOf(head, entries);
  const isMine = ({ submitted }: Pick<Story, 'submitted'>): boolean =>
    submitted !== undefined && isStepMeant(submitted, head, sessionId, isMeant);
  const kept = stories.findLastIndex((story) => !isMine(story) && stays(story.effect));
  const floor = kept + 1;
  const before = stories.slice(0, floor);
  const between = before.filter((story) => isMine(story) && isStanding(story.effect));
  const range = stories.slice(floor).filter(isMine);
  const waiting = waitingStep(head, entries);
  const isWaiting = waiting !== undefined && isMine({ submitted: waiting });
  const first = [...between, ...range][0]?.submitted ?? (isWaiting ? waiting : undefined);
  if (first === undefined) return undefined;
  return {
    floor,
    cursor: (stories[kept]?.effect.step ?? -1) + 1,
    after: before.findLast(({ effect }) => effect.status === 'committed')?.step ?? null,
    since: first.createdAt,
    isLeft: isWaiting || range.some(({ effect }) => isStanding(effect)),
    between,
  };
};

/** A saga that came after the point, or whose last steps did. */
export interface SagaSince {
  head: SagaHead;
  /** When the first part of it that counts began. */
  since: string;
  steps?: LastSteps;
}

/** What earlier looks found, by saga, for a caller that looks again and again. */
export interface SagaCache {
  steps: Map<string, { version: number; steps: LastSteps | undefined }>;
  /** Sagas that are completed or taken back. Only people move them, so they are not read at each look. */
  atRest: Map<string, SagaHead>;
}

export const nothingFound = (): SagaCache => ({ steps: new Map(), atRest: new Map() });

/** In the order in which they began. Children are left out: their roots take them back. */
export const sagasSince = async (
  store: Reads,
  sessionId: string,
  isMeant: IsMeant,
  { steps: known, atRest }: SagaCache = nothingFound(),
): Promise<SagaSince[]> => {
  const all = await sessionSagas(store, sessionId, atRest);
  for (const head of all) {
    const { status } = head.state;
    if (status === 'COMPLETED' || status === 'COMPENSATED') atRest.set(head.sagaId, head);
  }
  const heads = all.filter(({ parent }) => parent === undefined);
  const found = await mapAtOnce(heads, SAGAS_AT_ONCE, async (head): Promise<SagaSince | undefined> => {
    const { sagaId, version, state } = head;
    if (isSagaMeant(head, sessionId, isMeant)) return { head, since: head.createdAt };
    // A single call has one step, which belongs to the message of the saga's start.
    if (state.interactive === undefined || state.interactive.single === true) return undefined;
    let seen = known.get(sagaId);
    if (seen?.version !== version) {
      seen = { version, steps: lastSteps(head, await readTrueLedger(store, head), sessionId, isMeant) };
      known.set(sagaId, seen);
    }
    const { steps } = seen;
    return steps === undefined ? undefined : { head, steps, since: steps.since };
  });
  return found
    .filter((one) => one !== undefined)
    .toSorted((one, other) => (one.since < other.since ? -1 : one.since > other.since ? 1 : 0));
};
