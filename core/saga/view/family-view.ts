/**
 * What people and the model are told about the sagas below one: a line for each, and details only where
 * something stands or waits for a person. So it stays small with many children (S12).
 */
import type { AwaitedApproval, Observation } from '../../../contract/saga-observation.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { turningFact } from '../decide/turning.ts';
import { readTrueLedger } from '../entries/read-ledger.ts';
import type { NamedChild } from '../model/children.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { heldAgainst } from '../permits/look.ts';
import type { SagaStore } from '../ports.ts';
import { lockReason } from './doing.ts';
import { fittingObservation } from './fit-observation.ts';
import { observe } from './observation.ts';
import { interactiveView } from './observe-interactive.ts';

const AT_ONCE = 8;

/** Limits for the lines, and for the details of each saga. What is not listed is still searched and counted. */
const MAX_LINES = 200;
const MAX_DETAILS = 20;

type Line = NonNullable<Observation['children']>[number];

interface Below {
  /** The root is completed, so no saga above takes anything back. Each child is told so a moment later. */
  isSealed: boolean;
  lines: Line[];
  /** How many more there are. */
  linesNotListed: number;
  awaiting: (AwaitedApproval & { path: string; sagaId: string })[];
  /** How many more wait. */
  awaitingNotListed: number;
  /** Only effects that left residue. */
  compensated: Observation['compensated'];
  notCompensated: Observation['notCompensated'];
}

/** The children that a ledger names, each with its path: `deploy/dns`. */
const childrenIn = (entries: readonly LedgerEntry[]): (NamedChild & { path: string; startSeq: number })[] =>
  entries.flatMap((entry) => {
    if (entry.direction !== 'forward' || entry.status !== 'started') return [];
    const { children = [], step, seq, epoch } = entry;
    const at = epoch > 0 ? `${step}@${epoch}` : step;
    return children.map((child) => ({
      ...child,
      path: child.branch === step ? at : `${at}/${child.branch}`,
      startSeq: seq,
    }));
  });

/** Whether there is more to say about the saga than how it ended. `isUndone`: the saga above it is taken back. */
const isOpen = ({ state }: SagaHead, isUndone: boolean): boolean =>
  state.phase !== 'done' ||
  state.status === 'COMPENSATION_FAILED' ||
  (isUndone && state.status === 'COMPLETED');

/**
 * The saga was taken back, alone or with the saga above it, and something may be left, of itself or of the
 * sagas that it ran.
 */
const mayLeave = ({ state }: SagaHead): boolean =>
  state.status === 'COMPENSATION_FAILED' ||
  state.effects.some(
    ({ status, kind, children }) =>
      status === 'skipped' ||
      (status === 'undone' && kind === 'partial') ||
      (children === true && state.status === 'COMPENSATED'),
  );

/** The saga waits for a person, or for children that may wait for one. */
const mayAwait = ({ state: { wait } }: SagaHead): boolean =>
  wait?.kind === 'approval' || wait?.kind === 'children';

const isTakenBack = ({ state }: SagaHead): boolean =>
  state.phase === 'undo' || state.status === 'COMPENSATION_FAILED';

type Reads = Pick<SagaStore, 'getHead' | 'pageEntries'>;

const collect = async (
  store: Reads,
  parent: SagaHead,
  entries: readonly LedgerEntry[],
  prefix: string,
  below: Below,
): Promise<void> => {
  const named = childrenIn(entries);
  const heads = await mapAtOnce(named, AT_ONCE, ({ sagaId }) => store.getHead(sagaId));
  for (const [at, { sagaId, path, definition, startSeq }] of named.entries()) {
    const head = heads[at];
    const whole = `${prefix}${path}`;
    const isOurs = head?.parent?.sagaId === parent.sagaId && head.parent.seq === startSeq;
    const isTold = below.lines.length < MAX_LINES;
    if (head === undefined || !isOurs) {
      if (isTold)
        below.lines.push({ path: whole, sagaId, status: head === undefined ? 'STARTING' : 'REFUSED' });
      else below.linesNotListed += 1;
      continue;
    }
    const { status, failure } = head.state;
    const line: Line = {
      path: whole,
      sagaId,
      status,
      ...(definition === undefined ? {} : { definition }),
      ...(status === 'COMPLETED' ? { sealed: below.isSealed } : {}),
      ...(failure === null ? {} : { failure: failure.error.name }),
      ...(head.state.interactive === undefined ? {} : { interactive: interactiveView(head).what }),
    };
    if (isTold) below.lines.push(line);
    else below.linesNotListed += 1;
    const isLooked = (isTold && isOpen(head, isTakenBack(parent))) || mayLeave(head) || mayAwait(head);
    if (!isLooked) continue;
    const more = await detail(store, head, isTakenBack(parent), whole, below);
    if (more.notListed > 0) line.notListed = more.notListed;
    if (more.acceptedNotListed > 0) line.acceptedNotListed = more.acceptedNotListed;
    if (more.residueNotListed > 0) line.residueNotListed = more.residueNotListed;
    if (!isTold && more.notListed + more.residueNotListed > 0) {
      below.lines.push(line);
      below.linesNotListed -= 1;
    }
  }
};

interface NotListed {
  notListed: number;
  /** How many of these somebody let stand. */
  acceptedNotListed: number;
  residueNotListed: number;
}

/** Adds the details of one saga. Answers how many effects that stand or left something are not listed. */
const detail = async (
  store: Reads,
  head: SagaHead,
  isUndone: boolean,
  path: string,
  below: Below,
): Promise<NotListed> => {
  const entries = await readTrueLedger(store, head);
  const seen = observe(head, entries);
  const { sagaId } = head;
  if (seen.awaiting !== undefined) {
    if (below.awaiting.length < MAX_DETAILS) below.awaiting.push({ ...seen.awaiting, path, sagaId });
    else below.awaitingNotListed += 1;
  }
  const residue = seen.compensated.filter((one) => one.residue !== undefined);
  below.compensated.push(...residue.slice(0, MAX_DETAILS).map((one) => ({ ...one, path, sagaId })));
  const left = seen.notCompensated.map((one) => ({ ...one, path, sagaId }));
  // The saga is completed, but is not unwound because a sibling cannot be undone.
  const stands = isUndone && head.state.status === 'COMPLETED';
  const kept = stands
    ? seen.committed.map((one) => ({ ...one, reason: 'not undone yet', path, sagaId }))
    : [];
  // Effects that somebody let stand need nobody, so they come last.
  const open = [...left.filter(({ accepted }) => accepted !== true), ...kept];
  const accepted = left.filter((one) => one.accepted === true);
  below.notCompensated.push(...[...open, ...accepted].slice(0, MAX_DETAILS));
  await collect(store, head, entries, `${path}/`, below);
  const notListed = Math.max(0, open.length + accepted.length - MAX_DETAILS);
  return {
    notListed,
    acceptedNotListed: Math.min(accepted.length, notListed),
    residueNotListed: Math.max(0, residue.length - MAX_DETAILS),
  };
};

/** Answers what is below a saga. All lists are empty when it runs no other saga. */
const lookBelow = async (
  store: Reads,
  head: SagaHead,
  entries: readonly LedgerEntry[],
  isSealed: boolean,
): Promise<Below> => {
  const below: Below = {
    isSealed,
    lines: [],
    linesNotListed: 0,
    awaiting: [],
    awaitingNotListed: 0,
    compensated: [],
    notCompensated: [],
  };
  if (head.state.effects.some(({ children }) => children === true)) {
    await collect(store, head, entries, '', below);
  }
  return below;
};

/**
 * The observation with what stands below, for alerts and notices. These must reach people even when a ledger
 * below is not as it was written. Then they say only what this saga's own ledger knows.
 */
export const observeBelow = async (
  store: Reads,
  head: SagaHead,
  entries: Parameters<typeof observe>[1],
): Promise<Observation> => {
  try {
    const below = await lookBelow(store, head, entries, false);
    return { ...observe(head, entries, below), children: below.lines };
  } catch (error) {
    if (!isWalkbackError(error) || error.retryable) throw error;
    return observe(head, entries);
  }
};

/** The input that the plan above gives to the agent that does this step. */
const givenTo = async (
  store: SagaStore,
  { sagaId, parent, inputHash }: SagaHead,
  { interactive }: Observation,
): Promise<Pick<Observation, 'interactive'>> =>
  parent === undefined || interactive === undefined
    ? {}
    : { interactive: { ...interactive, input: await store.getPinnedInput(sagaId, inputHash) } };

/**
 * The reason for a wait as it is now. The ledger says who held the lock when the saga began to wait; that
 * saga may have ended, and another may hold the lock now.
 */
const waitingNow = async (
  store: SagaStore,
  head: SagaHead,
  { doing }: Observation,
): Promise<Pick<Observation, 'doing'>> => {
  if (doing === undefined || head.state.wait?.kind !== 'resource') return {};
  const held = await heldAgainst({ store }, head);
  const reason = lockReason(held && { sagaId: held.holder, resourceKey: held.label });
  return { doing: { ...doing, reason } };
};

/** The observation of a saga, with the sagas below it and its place in the tree. */
export const observeFamily = async (
  store: SagaStore,
  head: SagaHead,
  entries: Parameters<typeof observe>[1],
): Promise<Observation> => {
  const { parent, root = head.sagaId } = head;
  const top = head.root === undefined ? head : await store.getHead(head.root);
  const isSealed = top?.state.status === 'COMPLETED';
  const below = await lookBelow(store, head, entries, isSealed);
  const { lines, linesNotListed, awaiting, awaitingNotListed } = below;
  const seen = observe(head, entries, below);
  return fittingObservation({
    ...seen,
    ...(await waitingNow(store, head, seen)),
    ...(await givenTo(store, head, seen)),
    ...(parent === undefined
      ? {}
      : { parent: { sagaId: parent.sagaId, root, sealed: isSealed && head.state.status === 'COMPLETED' } }),
    ...(lines.length === 0 ? {} : { children: lines }),
    ...(linesNotListed === 0 ? {} : { childrenNotListed: linesNotListed }),
    ...(awaiting.length === 0 ? {} : { awaitingBelow: awaiting }),
    ...(awaitingNotListed === 0 ? {} : { awaitingBelowNotListed: awaitingNotListed }),
  });
};

/**
 * Whether a saga below this one waits for a person. Reads the heads of the children, and the entry that names
 * them.
 */
export const awaitsBelow = async (store: SagaStore, head: SagaHead): Promise<boolean> => {
  const { wait, effects } = head.state;
  // A saga that was told to turn back takes its children with it, whatever they wait for.
  if (wait?.kind !== 'children' || turningFact(head.state) !== undefined) return false;
  const { startSeq } = effects[wait.effect] ?? {};
  const started = startSeq === undefined ? undefined : await store.getEntry(head.sagaId, startSeq);
  const named = started === undefined ? [] : childrenIn([started]);
  const awaits = await mapAtOnce(named, AT_ONCE, async ({ sagaId }) => {
    const child = await store.getHead(sagaId);
    if (child === undefined) return false;
    return child.state.status === 'AWAITING' || awaitsBelow(store, child);
  });
  return awaits.includes(true);
};
