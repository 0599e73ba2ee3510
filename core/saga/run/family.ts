/**
 * How the sagas of one tree act on each other. Each action follows the saga's own transaction: a parent
 * creates its children and has them unwound, a child that ended wakes its parent, a root seals its
 * descendants. Everything here may happen twice, or be done by the sweeper; the ledgers decide.
 */
import type { Json } from '../../../contract/json.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { letterOf } from '../decide/child-letters.ts';
import { childEnd } from '../decide/decide-children.ts';
import type { EntryLink, NamedChild } from '../model/children.ts';
import { isChildOf, type SagaHead } from '../model/head.ts';
import type { SagaEngine, SagaStore } from '../ports.ts';
import { namedIn, seenChild, statusForParent } from '../prepare/prepare-children.ts';
import { newChild } from './create-child.ts';
import { move } from './move.ts';
import { wake } from './wake.ts';

export interface FamilyDependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
}

const AT_ONCE = 8;

const linkTo = async (store: SagaStore, sagaId: string, seq: number): Promise<EntryLink | undefined> => {
  const entry = await store.getEntry(sagaId, seq);
  return entry === undefined ? undefined : { sagaId, seq, hash: entry.hash };
};

const ensureChild = async (
  { store, engine, clock }: FamilyDependencies,
  parent: SagaHead,
  link: EntryLink,
  named: NamedChild,
  input: Json,
): Promise<SagaHead | undefined> => {
  let head = await store.getHead(named.sagaId);
  if (head === undefined) {
    const created = newChild(parent, link, named, clock.now().toISOString());
    await store.putInput(named.sagaId, named.inputHash, input);
    const outcome = await store.createSaga(created.head, created.entries);
    head = outcome.written ? created.head : outcome.existing;
  }
  if (head === undefined || !isChildOf(head, parent.sagaId, link.seq)) return undefined;
  // With more entries, the child was driven before. If its execution has died since, the sweeper finds it.
  if (head.seq === 1 && head.state.inline === undefined) await engine.start(head.sagaId, 1);
  return head;
};

/** Gives this saga a new execution, which goes on from its present state. */
const unwind = async (
  dependencies: FamilyDependencies,
  child: SagaHead,
  parent: EntryLink,
): Promise<void> => {
  const moved = await move(dependencies, child.sagaId, { type: 'unwind', parent }, 'engine');
  const { state } = moved.head;
  if (state.phase === 'done') return;
  await wake(dependencies, child.sagaId);
  // A function is in the middle of one of its steps. When that step is settled, the machine takes over.
  if (state.inline === undefined) await dependencies.engine.start(child.sagaId, state.generation);
};

/** Makes sure that the children that a saga waits for exist and run, and unwind when they were told to. */
export const driveChildren = async (dependencies: FamilyDependencies, head: SagaHead): Promise<void> => {
  const { store } = dependencies;
  const { wait, effects } = head.state;
  if (wait?.kind !== 'children') return;
  const { startSeq } = effects[wait.effect] ?? {};
  const started = startSeq === undefined ? undefined : await store.getEntry(head.sagaId, startSeq);
  if (started?.direction !== 'forward' || started.status !== 'started') return;
  const link = { sagaId: head.sagaId, seq: started.seq, hash: started.hash };
  const command = wait.toldSeq === undefined ? undefined : await linkTo(store, head.sagaId, wait.toldSeq);
  const open = [...namedIn(started).entries()].filter(([at]) => wait.ended[at] === '-');
  await mapAtOnce(open, AT_ONCE, async ([at, named]) => {
    const child = await ensureChild(
      dependencies,
      head,
      link,
      named,
      started.arguments?.[named.branch] ?? null,
    );
    if (child !== undefined && command !== undefined && wait.told[at] === 'x') {
      await unwind(dependencies, child, command);
    }
  });
};

/** Whether a child that the saga waits for has ended and the saga has not recorded it. */
export const hasNews = async (store: SagaStore, head: SagaHead): Promise<boolean> => {
  const { wait, effects } = head.state;
  if (wait?.kind !== 'children') return false;
  const { startSeq } = effects[wait.effect] ?? {};
  const started = startSeq === undefined ? undefined : await store.getEntry(head.sagaId, startSeq);
  const open = [...namedIn(started).entries()].filter(
    ([at]) => wait.ended[at] === '-' || wait.ended[at] === 'f',
  );
  const news = await mapAtOnce(open, AT_ONCE, async ([at, { sagaId }]) => {
    const child = await store.getHead(sagaId);
    // Another saga has the child's id. The parent must be told that too.
    if (child !== undefined && !isChildOf(child, head.sagaId, started?.seq ?? -1)) return true;
    const letter = letterOf(child === undefined ? null : statusForParent(child));
    // On the way back, a completed child must still be unwound: it was told to, or waits for its turn.
    const isNews = letter !== 'c' || (wait.direction === 'forward' && wait.told[at] !== 'x');
    return letter !== '-' && letter !== wait.ended[at] && isNews;
  });
  return news.includes(true);
};

/**
 * Makes this saga decide again when a child whose compensation had failed has been undone by a person since.
 * Answers whether a new execution was started.
 */
const recheckChildren = async (dependencies: FamilyDependencies, head: SagaHead): Promise<boolean> => {
  const { store, engine } = dependencies;
  for (const [effect, { children, status, startSeq }] of head.state.effects.entries()) {
    if (children !== true || status !== 'undo_failed') continue;
    for (const [at, named] of namedIn(await store.getEntry(head.sagaId, startSeq)).entries()) {
      const known = await store.getHead(named.sagaId);
      if (known?.state.status !== 'COMPENSATED' || !isChildOf(known, head.sagaId, startSeq)) continue;
      if (!(await failedBefore(store, head, named.sagaId))) continue;
      const child = childEnd(at, await seenChild(store, named, head.sagaId, startSeq));
      if (child === undefined) continue;
      const moved = await move(dependencies, head.sagaId, { type: 'child-settled', effect, child }, 'engine');
      if (moved.entries.length === 0) continue;
      await engine.start(head.sagaId, moved.head.state.generation);
      return true;
    }
  }
  return false;
};

/** Whether the saga's last record of the child is that it could not be undone. */
const failedBefore = async (store: SagaStore, head: SagaHead, child: string): Promise<boolean> => {
  const last = (await store.listEntries(head.sagaId)).findLast(
    (entry) =>
      entry.direction === 'child' &&
      (entry.status === 'ended' || entry.status === 'settled') &&
      entry.child.sagaId === child,
  );
  return last?.direction === 'child' && 'child' in last && last.child.status === 'COMPENSATION_FAILED';
};

/** The children whose compensation failed, of a saga whose compensation failed. */
const failedChildren = async (store: SagaStore, head: SagaHead): Promise<SagaHead[]> => {
  const failed: SagaHead[] = [];
  for (const { children, status, startSeq } of head.state.effects) {
    if (children !== true || status !== 'undo_failed') continue;
    const named = namedIn(await store.getEntry(head.sagaId, startSeq));
    const seen = await mapAtOnce(named, AT_ONCE, ({ sagaId }) => store.getHead(sagaId));
    for (const child of seen) {
      const isFailed = child?.state.status === 'COMPENSATION_FAILED';
      if (isFailed && isChildOf(child, head.sagaId, startSeq)) failed.push(child);
    }
  }
  return failed;
};

/** The same, also for the failed sagas below it. Answers whether a new execution of any of them was started. */
export const recheckTree = async (dependencies: FamilyDependencies, head: SagaHead): Promise<boolean> => {
  if (await recheckChildren(dependencies, head)) return true;
  let isAny = false;
  for (const child of await failedChildren(dependencies.store, head)) {
    isAny = (await recheckTree(dependencies, child)) || isAny;
  }
  return isAny;
};

/** After a child has ended, its parent looks again. Answers whether the parent goes on in a new execution. */
const tellParent = async (dependencies: FamilyDependencies, child: SagaHead): Promise<boolean> => {
  if (child.parent === undefined) return false;
  const parent = await dependencies.store.getHead(child.parent.sagaId);
  if (parent === undefined) return false;
  if (parent.state.wait?.kind !== 'children') return recheckChildren(dependencies, parent);
  await wake(dependencies, parent.sagaId);
  return false;
};

/**
 * Tells each saga above one that has ended, up to the first that goes on: a saga on the way may have died
 * before it told its parent.
 */
export const tellAncestors = async (dependencies: FamilyDependencies, head: SagaHead): Promise<boolean> => {
  if (head.parent === undefined || head.state.phase !== 'done') return false;
  if (await tellParent(dependencies, head)) return true;
  const parent = await dependencies.store.getHead(head.parent.sagaId);
  return parent === undefined ? false : tellAncestors(dependencies, parent);
};

/**
 * The root is completed, so nothing below it is provisional any more. The leaves come first, so a sealed saga
 * has nothing left to seal below it.
 */
const seal = async (dependencies: FamilyDependencies, head: SagaHead, root: EntryLink): Promise<void> => {
  const { store } = dependencies;
  for (const { children, startSeq, status } of head.state.effects) {
    if (children !== true || status !== 'committed') continue;
    const named = namedIn(await store.getEntry(head.sagaId, startSeq));
    await mapAtOnce(named, AT_ONCE, async ({ sagaId }) => {
      const child = await store.getHead(sagaId);
      if (child?.state.status !== 'COMPLETED' || child.state.sealed === true) return;
      if (!isChildOf(child, head.sagaId, startSeq)) return;
      await seal(dependencies, child, root);
      await move(dependencies, sagaId, { type: 'seal', root }, 'engine');
    });
  }
};

/** Seals the descendants of a completed root. */
const sealTree = async (dependencies: FamilyDependencies, head: SagaHead): Promise<void> => {
  const isRoot = head.parent === undefined && head.state.status === 'COMPLETED';
  if (!isRoot || !head.state.effects.some(({ children }) => children === true)) return;
  await seal(dependencies, head, { sagaId: head.sagaId, seq: head.seq - 1, hash: head.tip });
};

/**
 * Does everything that follows for the rest of the tree when a saga has ended. Answers whether the saga
 * itself goes on.
 */
export const afterEnd = async (dependencies: FamilyDependencies, head: SagaHead): Promise<boolean> => {
  if (head.state.status === 'COMPENSATION_FAILED' && (await recheckChildren(dependencies, head))) return true;
  await sealTree(dependencies, head);
  await tellParent(dependencies, head);
  return false;
};
