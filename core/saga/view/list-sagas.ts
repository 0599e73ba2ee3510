/** Lists sagas, and the entries of the catalog. */
import * as z from 'zod';
import type { ListSagasInput } from '../../../contract/saga-inputs.ts';
import type { SagaSummary, SagasAnswer, SessionEffect } from '../../../contract/saga-lists.ts';
import { SAGA_STATUSES } from '../../../contract/saga-observation.ts';
import { createPage } from '../../shared/answer-size.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { badCursor, sealed } from '../../shared/cursor.ts';
import { fillPage } from '../../shared/fill-page.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { branchesFailedIn } from '../decide/effects.ts';
import { stepCountOf } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaState } from '../model/state.ts';
import { daysToReview } from '../plan/catalog.ts';
import type { SagaStore } from '../ports.ts';
import { createSagaPages } from './page-sagas.ts';
import { effectsOfSaga } from './session-effects.ts';
import { sessionSagas } from './session-sagas.ts';
import { readSubject } from './subject.ts';

const DEFAULT_LIMIT = 50;

/** A step that was taken back by a rewind and not started again is not counted. */
const startedSteps = ({ effects, epoch, cursor, phase }: SagaState): number =>
  epoch === 0 || phase === 'undo'
    ? new Set(effects.map(({ step }) => step)).size
    : Math.max(cursor, ...effects.filter((one) => one.epoch === epoch).map(({ step }) => step + 1));

const branchesFailedOf = (state: SagaState): Pick<SagaSummary, 'branchesFailed'> => {
  const branchesFailed = branchesFailedIn(state);
  return branchesFailed === 0 ? {} : { branchesFailed };
};

const summary = (head: SagaHead): SagaSummary => ({
  sagaId: head.sagaId,
  status: head.state.status,
  definition: head.definition ?? null,
  started: startedSteps(head.state),
  steps: stepCountOf(head.state),
  failure: head.state.failure === null ? null : head.state.failure.error.name,
  ...branchesFailedOf(head.state),
  requestedBy: head.requestedBy,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt,
  ...(head.sessionId === undefined ? {} : { sessionId: head.sessionId }),
  ...(head.messageId === undefined ? {} : { messageId: head.messageId }),
  ...(head.parent === undefined ? {} : { parent: head.parent.sagaId }),
});

const SAGAS_AT_ONCE = 8;

/** `isAsked`: also what each is about, which reads the ledger of each. */
const summaries = (
  store: Pick<SagaStore, 'pageEntries'>,
  heads: readonly SagaHead[],
  isAsked = false,
): Promise<SagaSummary[]> =>
  mapAtOnce(heads, SAGAS_AT_ONCE, async (head) => ({
    ...summary(head),
    ...(isAsked ? await readSubject(store, head.sagaId) : {}),
  }));

const storedPlace = z.tuple([z.iso.datetime(), z.string().min(1)]);

type Started = Pick<SagaHead, 'createdAt' | 'sagaId'>;

const isBefore = (one: Started, other: Started): boolean =>
  one.createdAt === other.createdAt ? one.sagaId < other.sagaId : one.createdAt < other.createdAt;

const placesOf = (sessionId: string) => {
  const seal = sealed(`session ${sessionId}`);
  return {
    write: ({ createdAt, sagaId }: Started): string => seal.write([createdAt, sagaId]),
    read: (cursor: string): Started => {
      const read = storedPlace.safeParse(seal.read(cursor));
      if (!read.success) throw badCursor(read.error);
      const [createdAt, sagaId] = read.data;
      return { createdAt, sagaId };
    },
  };
};

/**
 * Sagas in the order of their start. A cursor names a saga, so a page stays where it is while more sagas are
 * started, while an older saga takes a step of this session, and while sagas enter or leave the status.
 */
const listOfSession = async (
  store: SagaStore,
  sessionId: string,
  { status, messageId, requestedBy, subject, limit = DEFAULT_LIMIT, cursor }: ListSagasInput,
): Promise<SagasAnswer> => {
  const all = await sessionSagas(store, sessionId);
  const places = placesOf(sessionId);
  const first = cursor === undefined ? undefined : places.read(cursor);
  const left = all.filter(
    (head) =>
      (first === undefined || !isBefore(head, first)) &&
      (status === undefined || head.state.status === status) &&
      (requestedBy === undefined || head.requestedBy === requestedBy),
  );
  const told = await mapAtOnce(left, SAGAS_AT_ONCE, async (head) => ({
    head,
    effects: messageId === undefined ? [] : await effectsOfSaga(store, sessionId, head, messageId),
  }));
  const meant = told.filter(
    ({ head, effects }) =>
      messageId === undefined ||
      effects.length > 0 ||
      (head.sessionId === sessionId && head.messageId === messageId),
  );
  const page = createPage<{ saga: SagaSummary; effects: SessionEffect[] }>(limit);
  // Reads a few at a time: with their long lists, fewer of them may fit than were asked for.
  for (let from = 0, isFull = false; from < meant.length && !isFull; from += SAGAS_AT_ONCE) {
    const next = meant.slice(from, from + Math.min(SAGAS_AT_ONCE, page.room()));
    const some = await mapAtOnce(next, SAGAS_AT_ONCE, async (one) => ({
      saga: { ...summary(one.head), ...(subject === true ? await readSubject(store, one.head.sagaId) : {}) },
      effects:
        messageId === undefined ? await effectsOfSaga(store, sessionId, one.head, undefined) : one.effects,
    }));
    isFull = !some.every(page.add) || page.isFull();
  }
  const next = meant[page.items.length];
  return {
    sagas: page.items.map(({ saga }) => saga),
    effects: page.items.flatMap(({ effects }) => effects),
    ...(next === undefined ? {} : { cursor: places.write(next.head) }),
  };
};

const pageSagas = createSagaPages('sagas', SAGA_STATUSES);

/** Lists sagas: of one status (the longest in it first), of all statuses, or of a session. */
export const createListSagas =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async (input: ListSagasInput): Promise<SagasAnswer> => {
    const { status, limit = DEFAULT_LIMIT, cursor, sessionId, requestedBy, subject } = input;
    if (sessionId !== undefined) return listOfSession(store, sessionId, input);
    // No index is by who started a saga: pages are read until enough of theirs are found.
    const isAsked = (head: SagaHead): boolean =>
      requestedBy === undefined || head.requestedBy === requestedBy;
    const page = await fillPage<SagaHead>(
      { clock, limit, cursor },
      ({ sagaId }) => sagaId,
      async (room, from) => {
        const read =
          status === undefined
            ? await pageSagas({ store, clock }, room, from)
            : await store.listHeadsByStatus(status, room, from);
        return { ...read, items: read.items.filter(isAsked) };
      },
    );
    return {
      sagas: await summaries(store, page.items, subject),
      ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
    };
  };

/** Lists the newest version of every tool and template, and how long each has until its review. */
export const createListCatalog =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async () => {
    const [tools, definitions] = await Promise.all([store.listTools(), store.listDefinitions()]);
    const now = clock.now();
    return {
      tools: tools.map(
        ({ name, version, effect, description, functionName, endpoint, compensation, probe, reviewBy }) => ({
          name,
          version,
          effect,
          description,
          functionName,
          /** The endpoint of an HTTP tool. Its Lambda function only passes calls on. */
          endpoint: endpoint ?? null,
          compensator: compensation?.name ?? null,
          probe,
          ...(reviewBy === undefined ? {} : { reviewBy, daysToReview: daysToReview(reviewBy, now) }),
        }),
      ),
      definitions: definitions.map((definition) => ({
        name: definition.name,
        version: definition.version,
        description: definition.description,
        steps: definition.plan.steps.map(({ id }) => id),
        reviewBy: definition.reviewBy,
        daysToReview: daysToReview(definition.reviewBy, now),
      })),
    };
  };
