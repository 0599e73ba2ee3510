/**
 * Decides how long items live. A checkpoint lives `retentionDays` from when it was written or last needed.
 * Links and bases are written to live twice as long, so every checkpoint that appends to a chain finds the
 * chain alive for its own whole life. A chain older than one retention is prolonged once.
 */

import { DAY_MS, DAY_SECONDS } from '../../../contract/times.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { StoredBase } from '../bundles.ts';
import type { Checkpoint, RepositoryState, Session } from '../model.ts';
import type { KeptCheckpoint, SessionStore } from '../ports/stores.ts';

const seconds = (clock: Clock): number => Math.floor(clock.now().getTime() / 1000);

type Retained = Pick<Session, 'retentionDays'>;

export const expiryOf = (session: Retained, clock: Clock): number =>
  seconds(clock) + session.retentionDays * DAY_SECONDS;

/**
 * Until this time, retention has removed no checkpoint of the session: each one is kept for `retentionDays`
 * after it was taken.
 */
export const keepsAllUntilMs = ({ createdAt, retentionDays }: Session): number =>
  Date.parse(createdAt) + retentionDays * DAY_MS;

export const chainExpiryOf = (session: Retained, clock: Clock): number =>
  seconds(clock) + 2 * session.retentionDays * DAY_SECONDS;

/** One day longer than the links, which are written a moment later. */
export const linksExpiryOf = (session: Retained, clock: Clock): number =>
  chainExpiryOf(session, clock) + DAY_SECONDS;

/** One day longer than the checkpoint, which is written a moment later. */
export const contentExpiryOf = (session: Retained, clock: Clock): number =>
  expiryOf(session, clock) + DAY_SECONDS;

/** Long enough for the checkpoint that needs an upload to find it stored. */
const UPLOAD_DAYS = 3;

/** How long an object may stay in the bucket without any item that names it. */
export const uploadExpiryOf = (clock: Clock): number => seconds(clock) + UPLOAD_DAYS * DAY_SECONDS;

/** A base about to expire is not built upon, because the table may remove it while a capture runs. */
export const isAlive = (item: { expiresAt: number }, clock: Clock): boolean =>
  item.expiresAt > seconds(clock) + DAY_SECONDS;

/** The base that the chain of `state` stands on, if it has one that is still stored. */
export const baseBelow = async (
  store: Pick<SessionStore, 'getBase'>,
  { base, baseOwner }: RepositoryState,
): Promise<StoredBase | undefined> =>
  base === undefined || baseOwner === undefined ? undefined : store.getBase(base, baseOwner);

/**
 * Makes the chain below `state` outlive a checkpoint written now. Answers the state with the new expiry.
 */
export const keepChain = async (
  store: SessionStore,
  session: Session,
  state: RepositoryState,
  clock: Clock,
): Promise<RepositoryState> => {
  if (state.chainId === undefined || (state.chainExpiresAt ?? 0) >= expiryOf(session, clock)) return state;
  const expiresAt = chainExpiryOf(session, clock);
  const links = await store.listLinks(session.sessionId, state.chainId);
  // The objects first, so that no link outlives the object that it is a range of.
  const place = { linksOf: session.sessionId };
  const keys = new Set(links.flatMap(({ bundle }) => (bundle.at === undefined ? [] : bundle.key)));
  await store.putUploads([...keys].map((key) => ({ key, place, expiresAt: linksExpiryOf(session, clock) })));
  await store.putLinks(links.map((link) => ({ ...link, expiresAt: Math.max(link.expiresAt, expiresAt) })));
  const base = await baseBelow(store, state);
  if (base !== undefined) await store.putBase({ ...base, expiresAt });
  return { ...state, chainExpiresAt: expiresAt };
};

/** Number of repositories whose chains are looked after at the same time. */
const PARALLEL = 8;

/** Makes the chains below a checkpoint outlive it when it is prolonged now. */
export const keepChains = async (
  store: SessionStore,
  session: Session,
  { repositories }: Checkpoint,
  clock: Clock,
): Promise<void> => {
  await mapAtOnce(repositories, PARALLEL, (state) => keepChain(store, session, state, clock));
};

/** What is written to prolong a checkpoint, once its chains are kept. */
export const keptCheckpoint = (session: Session, checkpoint: Checkpoint, clock: Clock): KeptCheckpoint => {
  const key = checkpoint.content?.object?.key;
  const place = { contentOf: session.sessionId };
  return {
    checkpoint,
    expiresAt: expiryOf(session, clock),
    uploads: key === undefined ? [] : [{ key, place, expiresAt: contentExpiryOf(session, clock) }],
  };
};

/** An old checkpoint that becomes the head again is needed from now on. */
export const keepCheckpoint = async (
  store: SessionStore,
  session: Session,
  checkpoint: Checkpoint,
  clock: Clock,
): Promise<void> => {
  const { expiresAt, uploads } = keptCheckpoint(session, checkpoint, clock);
  await Promise.all([keepChains(store, session, checkpoint, clock), store.putUploads(uploads)]);
  // Last: what it needs lives at least as long.
  await store.prolongCheckpoint(checkpoint, expiresAt);
};
