/**
 * Sagas of many statuses, page by page. The index goes by status, and in it by the time since which a saga is in that status: a page
 * asks it once for each status that it reaches, and reads no heads but those that it answers.
 */
import * as z from 'zod';
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import { badCursor, requireGiven, sealed } from '../../shared/cursor.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { type SagaHead, SETTLED_STATUSES, STATUSES_AT_WORK, STATUSES_FOR_PEOPLE } from '../model/head.ts';
import type { Page, SagaOutline, SagaStore } from '../ports.ts';

/**
 * Listed one after the other. A saga keeps its time when one moving status follows another, so these are one stretch, in which it
 * keeps its place. In the last one are those that changed their status since the first page, whatever it is now.
 */
const stretchesOf = (statuses: readonly SagaStatus[]): (readonly SagaStatus[])[] => [
  ...[
    ...STATUSES_FOR_PEOPLE.map((status) => [status]),
    STATUSES_AT_WORK,
    ...SETTLED_STATUSES.map((status) => [status]),
  ].filter((stretch) => stretch.every((status) => statuses.includes(status))),
  statuses,
];

/** What is listed. */
interface Listed {
  stretches: readonly (readonly SagaStatus[])[];
  seal: ReturnType<typeof sealed>;
}

type At = Pick<SagaOutline, 'statusSince' | 'sagaId'>;

interface Found {
  one: SagaOutline;
  stretch: number;
}

interface Place {
  listed: Listed;
  /** When the first page was asked for. */
  began: string;
  stretch: number;
  /** The saga before, in this stretch. */
  after?: At;
  /** That one is told again, from this on of what is listed of it. */
  within?: string;
}

const lastOf = ({ stretches }: Listed): number => stretches.length - 1;
const isLast = ({ listed, stretch }: Place): boolean => stretch === lastOf(listed);

const storedPlace = z.tuple([
  z.iso.datetime(),
  z.int().min(0),
  z.iso.datetime(),
  z.string().min(1),
  z.string().optional(),
]);

const writePlace = (
  { seal }: Listed,
  began: string,
  { one: { statusSince, sagaId }, stretch }: Found,
  within?: string,
): string => seal.write([began, stretch, statusSince, sagaId, ...(within === undefined ? [] : [within])]);

const readPlace = (listed: Listed, cursor: string): Place => {
  const { value, isSealed } = listed.seal.read(cursor);
  requireGiven(isSealed);
  const read = storedPlace.safeParse(value);
  if (!read.success) throw badCursor(read.error);
  const [began, stretch, statusSince, sagaId, within] = read.data;
  requireGiven(stretch <= lastOf(listed));
  const after = { statusSince, sagaId };
  return { listed, began, stretch, after, ...(within === undefined ? {} : { within }) };
};

const compare = (one: string, other: string): number => Number(one > other) - Number(one < other);

const inOrder = (one: At, other: At): number =>
  compare(one.statusSince, other.statusSince) || compare(one.sagaId, other.sagaId);

/** Whether it changed its status since the first page. */
const isMoved = ({ statusSince }: Pick<At, 'statusSince'>, { began }: Place): boolean => statusSince > began;

const isBehind = (one: At, { after, within }: Place): boolean => {
  const order = after === undefined ? 1 : inOrder(one, after);
  return order > 0 || (order === 0 && within !== undefined);
};

const isAhead = (one: At, place: Place): boolean =>
  isMoved(one, place) === isLast(place) && isBehind(one, place);

/** All of one time are needed: the index does not order them. */
const isEnough = (found: readonly At[], most: number, read: At): boolean => {
  const needed = found[most - 1];
  return needed !== undefined && read.statusSince > needed.statusSince;
};

/** At least the first `most` of one status from the place on, when there are so many. */
const readStatus = async (
  store: SagaStore,
  status: SagaStatus,
  place: Place,
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

/** A saga that goes from one status to another meanwhile may be read in both. */
const readStretch = async (store: SagaStore, place: Place, most: number): Promise<SagaOutline[]> => {
  const found = await Promise.all(
    (place.listed.stretches[place.stretch] ?? []).map((status) => readStatus(store, status, place, most)),
  );
  const once = new Map(found.flat().map((one) => [one.sagaId, one]));
  return [...once.values()].toSorted(inOrder).slice(0, most);
};

interface SagaPage extends Page<SagaHead> {
  /** Behind what of this saga the page begins. */
  within?: { sagaId: string; after: string };
  /** The cursor of a page that begins in a saga of this one, behind what was told of it. */
  at: (sagaId: string, after: string) => string;
}

/**
 * First those that need a person; in each stretch the longest in their status first. Whoever reads to the last page gets every saga
 * of these statuses that was there at the first. One that keeps its status meanwhile is told once. One that changes it is told at the
 * end, as it is then, also when an earlier page told it; and so are those that were started meanwhile. This holds as far as the index
 * is up to date: it may be a moment behind. `name`: whose cursors these are.
 */
export const createSagaPages = (name: string, statuses: readonly SagaStatus[]) => {
  const listed: Listed = { stretches: stretchesOf(statuses), seal: sealed(name) };
  return async (
    { store, clock }: { store: SagaStore; clock: Pick<Clock, 'now'> },
    limit: number,
    cursor: string | undefined,
  ): Promise<SagaPage> => {
    let place: Place =
      cursor === undefined
        ? { listed, began: clock.now().toISOString(), stretch: 0 }
        : readPlace(listed, cursor);
    const { began, after, within } = place;
    const found: Found[] = [];
    // One more than is told: it says whether there is another page.
    while (place.stretch <= lastOf(listed) && found.length <= limit) {
      const { stretch } = place;
      const read = await readStretch(store, place, limit + 1 - found.length);
      found.push(...read.map((one) => ({ one, stretch })));
      place = { listed, began, stretch: stretch + 1 };
    }
    const told = found.slice(0, limit);
    const last = told.at(-1);
    const hasMore = found.length > limit && last !== undefined;
    // Of one that was read twice, because it moved meanwhile, the first.
    const places = new Map<string, Found>();
    for (const one of told) if (!places.has(one.one.sagaId)) places.set(one.one.sagaId, one);
    return {
      items: await store.getHeads([...places.keys()]),
      ...(hasMore ? { cursor: writePlace(listed, began, last) } : {}),
      ...(after === undefined || within === undefined
        ? {}
        : { within: { sagaId: after.sagaId, after: within } }),
      at: (sagaId, behind) => {
        const at = places.get(sagaId);
        if (at === undefined) throw new RangeError(`this page has no saga ${sagaId}`);
        return writePlace(listed, began, at, behind);
      },
    };
  };
};
