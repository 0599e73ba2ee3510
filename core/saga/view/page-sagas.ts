/**
 * Lists sagas of many statuses, page by page. The index is sorted by status, and within it by the time since
 * which a saga has that status. A page asks the index once for each status that it reaches, and reads only
 * the heads that it answers.
 */
import * as z from 'zod';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { badCursor, requireGiven, sealed } from '../../shared/cursor.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { type SagaHead, SETTLED_STATUSES, STATUSES_AT_WORK, STATUSES_FOR_PEOPLE } from '../model/head.ts';
import type { Page, SagaOutline, SagaStore } from '../ports.ts';

/**
 * The groups of statuses that are listed one after the other. The moving statuses are one group: a saga keeps
 * its time when one moving status follows another, so it keeps its place in that group. The last group has
 * the sagas that changed their status since the first page, whatever their status is now.
 */
const stretchesOf = (statuses: readonly SagaStatus[]): (readonly SagaStatus[])[] => [
  ...[
    ...STATUSES_FOR_PEOPLE.map((status) => [status]),
    STATUSES_AT_WORK,
    ...SETTLED_STATUSES.map((status) => [status]),
  ].filter((stretch) => stretch.every((status) => statuses.includes(status))),
  statuses,
];

/** One saga that is listed. */
interface Listed {
  stretches: readonly (readonly SagaStatus[])[];
  seal: ReturnType<typeof sealed>;
}

type At = Pick<SagaOutline, 'statusSince' | 'sagaId'>;

interface ListedSaga {
  one: SagaOutline;
  stretch: number;
}

interface PagePosition {
  listed: Listed;
  /** When the first page was asked for. */
  began: string;
  stretch: number;
  /** The last saga of the page before, in this group. */
  after?: At;
  /** Set when that saga is listed again: where its own list continues. */
  within?: string;
}

const lastOf = ({ stretches }: Listed): number => stretches.length - 1;
const isLast = ({ listed, stretch }: PagePosition): boolean => stretch === lastOf(listed);

const storedPosition = z.tuple([
  z.iso.datetime(),
  z.int().min(0),
  z.iso.datetime(),
  z.string().min(1),
  z.string().optional(),
]);

const writePosition = (
  { seal }: Listed,
  began: string,
  { one: { statusSince, sagaId }, stretch }: ListedSaga,
  within?: string,
): string => seal.write([began, stretch, statusSince, sagaId, ...(within === undefined ? [] : [within])]);

const readPosition = (listed: Listed, cursor: string): PagePosition => {
  const read = storedPosition.safeParse(listed.seal.read(cursor));
  if (!read.success) throw badCursor(read.error);
  const [began, stretch, statusSince, sagaId, within] = read.data;
  requireGiven(stretch <= lastOf(listed));
  const after = { statusSince, sagaId };
  return { listed, began, stretch, after, ...(within === undefined ? {} : { within }) };
};

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);

const inOrder = (one: At, other: At): number =>
  compare(one.statusSince, other.statusSince) || compare(one.sagaId, other.sagaId);

/** Whether the saga changed its status since the first page. */
const isMoved = ({ statusSince }: Pick<At, 'statusSince'>, { began }: PagePosition): boolean =>
  statusSince > began;

const isBehind = (one: At, { after, within }: PagePosition): boolean => {
  const order = after === undefined ? 1 : inOrder(one, after);
  return order > 0 || (order === 0 && within !== undefined);
};

const isAhead = (one: At, place: PagePosition): boolean =>
  isMoved(one, place) === isLast(place) && isBehind(one, place);

/** Whether enough was read. All sagas of one time are needed, because the index does not order them. */
const isEnough = (found: readonly At[], most: number, read: At): boolean => {
  const needed = found[most - 1];
  return needed !== undefined && read.statusSince > needed.statusSince;
};

/** Reads at least the first `most` sagas of one status from the place on, if there are so many. */
const readStatus = async (
  store: SagaStore,
  status: SagaStatus,
  place: PagePosition,
  most: number,
): Promise<SagaOutline[]> => {
  const since = place.after?.statusSince ?? (isLast(place) ? place.began : undefined);
  const found: SagaOutline[] = [];
  let cursor: string | undefined;
  do {
    const page: Page<SagaOutline> = await store.listByStatus(status, most, cursor, since);
    found.push(...page.items.filter((one) => isAhead(one, place)));
    ({ cursor } = page);
    const read = page.items.at(-1);
    if (read === undefined) continue;
    if (isEnough(found, most, read) || (!isLast(place) && isMoved(read, place))) break;
  } while (cursor !== undefined);
  return found;
};

/**
 * Reads one group. A saga that changes its status meanwhile may be read in both statuses, or in neither. So
 * several statuses are read twice: the second time, a saga that was in neither is in its new status.
 */
const readStretch = async (store: SagaStore, place: PagePosition, most: number): Promise<SagaOutline[]> => {
  const statuses = place.listed.stretches[place.stretch] ?? [];
  const read = () => Promise.all(statuses.map((status) => readStatus(store, status, place, most)));
  const first = await read();
  const again = statuses.length > 1 ? await read() : [];
  const once = new Map([...first, ...again].flat().map((one) => [one.sagaId, one]));
  return [...once.values()].toSorted(inOrder).slice(0, most);
};

interface SagaPage extends Page<SagaHead> {
  /** The saga whose list the page continues, and behind what. */
  within?: { sagaId: string; after: string };
  /** The cursor of a page that continues inside a saga of this page, behind what was listed of it. */
  at: (sagaId: string, after: string) => string;
}

/**
 * Sagas that need a person come first. In each group, the longest in their status come first.
 *
 * A caller who reads to the last page gets every saga of these statuses that existed at the first page. A
 * saga that keeps its status meanwhile is listed once. A saga that changes its status is listed at the end as
 * it is then, even if an earlier page listed it. Sagas that were started meanwhile come at the end too. This
 * holds as far as the index is up to date; it may lag a moment behind. `name`: names the list, so that its
 * cursors are told from those of others.
 */
export const createSagaPages = (name: string, statuses: readonly SagaStatus[]) => {
  const listed: Listed = { stretches: stretchesOf(statuses), seal: sealed(name) };
  return async (
    { store, clock }: { store: SagaStore; clock: Pick<Clock, 'now'> },
    limit: number,
    cursor: string | undefined,
  ): Promise<SagaPage> => {
    let place: PagePosition =
      cursor === undefined
        ? { listed, began: clock.now().toISOString(), stretch: 0 }
        : readPosition(listed, cursor);
    const { began, after, within } = place;
    const found: ListedSaga[] = [];
    // Reads one more than is listed, to know whether there is another page.
    while (place.stretch <= lastOf(listed) && found.length <= limit) {
      const { stretch } = place;
      const read = await readStretch(store, place, limit + 1 - found.length);
      found.push(...read.map((one) => ({ one, stretch })));
      place = { listed, began, stretch: stretch + 1 };
    }
    const told = found.slice(0, limit);
    const last = told.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    // A saga that was read twice, because it moved meanwhile, is listed where it was read first.
    const places = new Map<string, ListedSaga>();
    for (const one of told) if (!places.has(one.one.sagaId)) places.set(one.one.sagaId, one);
    return {
      items: await store.getHeads([...places.keys()]),
      ...(hasMore ? { cursor: writePosition(listed, began, last) } : {}),
      ...(after === undefined || within === undefined
        ? {}
        : { within: { sagaId: after.sagaId, after: within } }),
      at: (sagaId, behind) => {
        const at = places.get(sagaId);
        if (at === undefined) throw new RangeError(`this page has no saga ${sagaId}`);
        return writePosition(listed, began, at, behind);
      },
    };
  };
};
