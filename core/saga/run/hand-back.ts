/**
 * Gives back what a saga no longer holds, and tells the sagas that wait for it. All of it may be repeated or
 * not happen at all: the heads say who holds a permit, and the sweeper makes up for what was missed.
 */
import type { Clock } from '../../shared/surroundings.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { rootOf, slotsOf, type Ticket } from '../model/permit.ts';
import { isIdle } from '../model/state.ts';
import { lookAt, waitsFor } from '../permits/look.ts';
import type { SagaEngine, SagaStore } from '../ports.ts';
import { lookAtDriver } from './look-at-driver.ts';
import { move } from './move.ts';
import { revive } from './revive.ts';

export interface HandBackDependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
}

/** The saga has its slot, but its start may have been refused. Starting it twice has no effect. */
const startAdmitted = async (
  engine: SagaEngine,
  { sagaId, project = '', state }: SagaHead,
  semaphore: string,
): Promise<void> => {
  const isAdmitted = typeof state.slot === 'number' && semaphore === slotsOf(project);
  const isDriven = state.phase === 'forward' && state.inline === undefined && !isIdle(state.wait);
  if (isAdmitted && isDriven) await engine.start(sagaId, state.generation);
};

/** The first saga in line that still waits there. Tickets of sagas that no longer wait are removed. */
const firstInLine = async (
  { store, engine }: HandBackDependencies,
  semaphore: string,
): Promise<{ ticket: Ticket; head: SagaHead } | undefined> => {
  for await (const ticket of store.permits.line(semaphore)) {
    const head = await store.getHead(ticket.sagaId);
    if (head !== undefined && waitsFor(head.state).includes(semaphore)) return { ticket, head };
    if (head !== undefined) await startAdmitted(engine, head, semaphore);
    await store.permits.leave(ticket);
  }
  return undefined;
};

/** Makes the saga look now, in a new execution if its own died. */
const rouse = async (dependencies: HandBackDependencies, head: SagaHead): Promise<void> => {
  const { store, engine } = dependencies;
  const waiting = await store.getToken(head.sagaId);
  const isMine = waiting?.generation === head.state.generation;
  if (isMine && (await engine.wake(waiting.token))) return;
  const seen = await lookAtDriver(dependencies, head);
  if (seen !== 'running') await revive(dependencies, head, seen, 'engine');
};

/**
 * Makes the saga whose turn it is look at once. If its execution died it gets a new one now, however often
 * earlier ones died, because all sagas behind it wait too.
 */
export const wakeFirst = async (dependencies: HandBackDependencies, semaphore: string): Promise<void> => {
  const first = await firstInLine(dependencies, semaphore);
  // A queued saga has no execution; it is admitted instead.
  if (first?.head.state.wait?.kind === 'resource') await rouse(dependencies, first.head);
};

/** A lock that a descendant took belongs to its root, so others below that root no longer wait for it. */
const wakeKin = async (
  dependencies: HandBackDependencies,
  { sagaId, root }: SagaHead,
  entries: readonly LedgerEntry[],
): Promise<void> => {
  const { store } = dependencies;
  for (const entry of root === undefined ? [] : entries) {
    if (entry.direction !== 'lock' || entry.status !== 'taken') continue;
    for await (const ticket of store.permits.line(entry.semaphore)) {
      if (ticket.root.sagaId !== root || ticket.sagaId === sagaId) continue;
      const head = await store.getHead(ticket.sagaId);
      if (head !== undefined && waitsFor(head.state).includes(entry.semaphore)) {
        await rouse(dependencies, head);
      }
    }
  }
};

/**
 * Starts those that are first in line, while the project has slots. `isThorough`: also finds slots whose
 * holder ended without giving them back.
 */
export const createAdmit =
  (dependencies: HandBackDependencies) =>
  async (project: string, isThorough = false): Promise<string[]> => {
    const { store, engine } = dependencies;
    const semaphore = slotsOf(project);
    const admitted: string[] = [];
    for (;;) {
      const first = await firstInLine(dependencies, semaphore);
      if (first === undefined) return admitted;
      const { ticket, head } = first;
      const size = head.maxConcurrent ?? 1;
      let isFull = false;
      // Looks again for each try, because a slot that was free may be taken by now.
      const queued = async (now: SagaHead): Promise<SagaEvent | undefined> => {
        if (now.state.wait?.kind !== 'slot') return undefined;
        const look = await lookAt(dependencies, semaphore, rootOf(now), { size, isThorough });
        isFull = look.state === 'busy';
        return isFull ? undefined : { type: 'admit', slot: { semaphore, look } };
      };
      const moved = await move(dependencies, ticket.sagaId, queued, 'engine');
      if (isFull) return admitted;
      if (moved.entries.length > 0) {
        await engine.start(ticket.sagaId, moved.head.state.generation);
        admitted.push(ticket.sagaId);
      }
      // This comes last, so that a repeated call still finds a saga whose start was refused.
      await store.permits.leave(ticket);
    }
  };

const hasEnded = ({ state }: SagaHead): boolean =>
  state.status === 'COMPLETED' || state.status === 'COMPENSATED';

/**
 * After a move: gives back the locks of a root that has ended, and the slot of one that ended or waits.
 * `entries`: what the move wrote; others of the tree may wait for a lock that it took.
 */
export const createHandBack = (dependencies: HandBackDependencies) => {
  const { store } = dependencies;
  const admit = createAdmit(dependencies);

  const releaseLocks = async (rootId: string): Promise<void> => {
    for (const permit of await store.permits.heldBy(rootId)) {
      await store.permits.release(permit);
      await wakeFirst(dependencies, permit.semaphore);
    }
  };

  const releaseSlot = async (rootId: string, project: string): Promise<void> => {
    const semaphore = slotsOf(project);
    const mine = (await store.permits.granted(semaphore)).find(({ holder }) => holder === rootId);
    if (mine !== undefined) await store.permits.release(mine);
    await admit(project);
  };

  return async (head: SagaHead, entries: readonly LedgerEntry[] = []): Promise<void> => {
    const { sagaId, state, project } = head;
    await wakeKin(dependencies, head, entries);
    const hasLocks = state.locked === true || state.effects.some(({ children }) => children === true);
    if (hasLocks && head.root === undefined && hasEnded(head)) await releaseLocks(sagaId);
    if (state.slot === null && project !== undefined && state.wait?.kind !== 'slot') {
      await releaseSlot(sagaId, project);
    }
  };
};
