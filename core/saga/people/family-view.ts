/**
 * What people and the model are told of the sagas below one: a line for each, and detail only where something waits for a
 * person or stands. So it stays small for many children (S12).
 */
import type { AwaitedApproval, Observation } from '../../../contract/saga-answers.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { turningFact } from '../decide/turning.ts';
import { readTrueLedger } from '../ledger/read-ledger.ts';
import type { NamedChild } from '../model/children.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { heldAgainst } from '../permits/look.ts';
import type { SagaStore } from '../ports.ts';
import { lockReason } from './doing.ts';
import { fittingObservation } from './fit-observation.ts';
import { observe } from './observation.ts';
import { placeOf } from './observe-interactive.ts';

const AT_ONCE = 8;

/** The most sagas that are told, and the most of each of them in detail. What is left is looked for in all. */
const MAX_LINES = 200;
const MAX_DETAILS = 20;

type Line = NonNullable<Observation['children']>[number];

interface Below {
  /** The root is completed, so no saga above takes anything back. Each child is told so a moment later. */
  isSealed: boolean;
  lines: Line[];
  /** So many more there are than are told. */
  linesNotListed: number;
  awaiting: (AwaitedApproval & { path: string; sagaId: string })[];
  /** So many more wait than are told. */
  awaitingNotListed: number;
  /** Only what left residue. */
  compensated: Observation['compensated'];
  notCompensated: Observation['notCompensated'];
}

/** The children that a ledger names, with the path of each: `deploy/dns`. */
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

/** Whether there is more to tell than how it ended. `isUndone`: the saga above it is taken back. */
const isOpen = ({ state }: SagaHead, isUndone: boolean): boolean =>
  state.phase !== 'done' ||
  state.status === 'COMPENSATION_FAILED' ||
  (isUndone && state.status === 'COMPLETED');

/** It was taken back, by itself or with the saga above it, and something may be left: of itself, or of what it ran. */
const mayLeave = ({ state }: SagaHead): boolean =>
  state.status === 'COMPENSATION_FAILED' ||
  state.effects.some(
    ({ status, kind, children }) =>
      status === 'skipped' ||
      (status === 'undone' && kind === 'partial') ||
      (children === true && state.status === 'COMPENSATED'),
  );

/** It waits for a person, or for sagas of which one may. */
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
      ...(head.state.interactive === undefined ? {} : { interactive: placeOf(head).what }),
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
  /** Of these, what somebody let stand. */
  acceptedNotListed: number;
  residueNotListed: number;
}

/** Answers how many effects stand there, or left something, that are not told here. */
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
  // It is completed, and a sibling that cannot be undone keeps it from being unwound.
  const stands = isUndone && head.state.status === 'COMPLETED';
  const kept = stands
    ? seen.committed.map((one) => ({ ...one, reason: 'not undone yet', path, sagaId }))
    : [];
  // What somebody let stand needs nobody, so it comes last.
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

/** Answers what is below a saga. Empty members for one that runs no other. */
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
 * The observation with what stands below, for alerts and notices: these reach people also when a ledger below is not as it was
 * written. Then they tell what is known here.
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

/** What the plan above gives to the agent that does this step of it. */
const givenTo = async (
  store: SagaStore,
  { sagaId, parent, inputHash }: SagaHead,
  { interactive }: Observation,
): Promise<Pick<Observation, 'interactive'>> =>
  parent === undefined || interactive === undefined
    ? {}
    : { interactive: { ...interactive, input: await store.getPinnedInput(sagaId, inputHash) } };

/** The ledger says who held the lock when the saga began to wait. That one may have ended, and another have it. */
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

/** The observation of a saga with what is below it, and what it is below. */
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

/** Whether a saga below this one waits for a person. Reads heads, and the starts of the children. */
export const awaitsBelow = async (store: SagaStore, head: SagaHead): Promise<boolean> => {
  const { wait, effects } = head.state;
  // One that was told to turn back takes its children with it, whatever they wait for.
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
