/** Finds sagas whose execution died, and restarts them from the ledger (S11). */

import type { SweepReport } from '../../../contract/internal-inputs.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { MINUTE_MS } from '../../../contract/times.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { Log } from '../../shared/surroundings.ts';
import { type SagaHead, STATUSES_AT_WORK, STATUSES_FOR_PEOPLE } from '../model/head.ts';
import { isStillBusy } from '../permits/look.ts';
import type { SagaOutline } from '../ports.ts';
import { isAlertDue, isUnalerted } from './alert-again.ts';
import { afterEnd, hasNews } from './family.ts';
import { createAdmit } from './hand-back.ts';
import { lookAtDriver } from './look-at-driver.ts';
import { type ReviveDependencies, revive } from './revive.ts';

/**
 * Sagas at work come first. A parked saga needs no execution, so that status is left out. A saga that ended
 * because a child could not be undone goes on once the child is repaired, and the child may have died before
 * it told its parent.
 */
const SWEPT = [...STATUSES_AT_WORK, ...STATUSES_FOR_PEOPLE.filter((status) => status !== 'PARKED')];

/** If an answer was recorded this long ago and the saga still has not moved, its wake-up was lost. */
const LOST_WAKE_MS = MINUTE_MS;

/**
 * This many executions in a row without progress are replaced at once. After that, each wait is twice as
 * long as the last.
 */
const QUICK_RESUMES = 3;
const LONGEST_WAIT_MS = 60 * MINUTE_MS;

/** After this many, the log asks each time for a person to look. */
const STUCK_RESUMES = 8;

/**
 * A saga that waits for a person or pauses needs no execution until the answer comes or the time is up. It
 * is looked at this often.
 */
const WAITING_EVERY_MINUTES = 15;

/**
 * About this many failed sagas are looked at each minute: all of them while they are few, and never one less
 * often than every `WAITING_EVERY_MINUTES`.
 */
const FAILED_EACH_MINUTE = 50;

/**
 * The engine describes 15 executions a second and has a reserve, so only a few are looked at at the same
 * time.
 */
const LOOKS_AT_ONCE = 4;

const PAGE = 1000;

export interface SweepDependencies extends ReviveDependencies {
  log: Log;
}

/** Whether a saga that makes no progress is due for its next try. */
const isDue = (head: SagaHead, nowMs: number): boolean => {
  const waits = head.state.resumes - QUICK_RESUMES;
  if (waits < 0) return true;
  return nowMs - Date.parse(head.updatedAt) >= Math.min(LONGEST_WAIT_MS, MINUTE_MS * 2 ** waits);
};

/** Whether the saga is looked at in this minute, when each saga's turn comes every so many minutes. */
const isTurnOf = (sagaId: string, everyMinutes: number, nowMs: number): boolean => {
  const place = Number.parseInt(sha256Hex(sagaId).slice(0, 8), 16);
  return (Math.floor(nowMs / MINUTE_MS) + place) % everyMinutes === 0;
};

/**
 * The due sagas on a page of one status. Sagas that wait for people, pause or have ended are looked at in
 * turn; those that wait or pause also always when their time is nearly up.
 */
const dueOf = (page: readonly SagaOutline[], status: SagaStatus, nowMs: number): SagaOutline[] => {
  if (status === 'COMPENSATION_FAILED') {
    const everyMinutes = Math.min(WAITING_EVERY_MINUTES, Math.ceil(page.length / FAILED_EACH_MINUTE));
    return page.filter(({ sagaId }) => isTurnOf(sagaId, everyMinutes, nowMs));
  }
  return page.filter(
    ({ sagaId, waitUntilMs }) =>
      waitUntilMs === null ||
      waitUntilMs - nowMs < MINUTE_MS ||
      isTurnOf(sagaId, WAITING_EVERY_MINUTES, nowMs),
  );
};

/** Wakes a saga whose awaited event came without its execution noticing. */
const wakeLost = async (dependencies: SweepDependencies, head: SagaHead): Promise<boolean> => {
  const { store, engine, clock } = dependencies;
  const idleMs = clock.now().getTime() - Date.parse(head.updatedAt);
  if (idleMs < LOST_WAKE_MS) return false;
  const { wait } = head.state;
  const isBusy =
    wait?.kind === 'resource'
      ? await isStillBusy(dependencies, head)
      : wait !== null && !(await hasNews(store, head));
  if (isBusy) return false;
  const waiting = await store.getToken(head.sagaId);
  return waiting?.generation === head.state.generation && (await engine.wake(waiting.token));
};

const sweepOne = async (
  dependencies: SweepDependencies,
  head: SagaHead,
  report: SweepReport,
  asked: boolean,
): Promise<void> => {
  const { clock, log } = dependencies;
  const { sagaId, state } = head;
  if (state.wait?.kind === 'slot') {
    // No execution runs while the saga waits for a slot.
    report.resumed.push(...(await createAdmit(dependencies)(head.project ?? '', true)));
    return;
  }
  const seen = await lookAtDriver(dependencies, head);
  if (seen === 'running') {
    if (await wakeLost(dependencies, head)) report.woken.push(sagaId);
    return;
  }
  if (seen === 'ended' && !asked && !isDue(head, clock.now().getTime())) {
    report.stuck.push(sagaId);
    return;
  }
  if (state.resumes >= STUCK_RESUMES) {
    log.warn('saga is stuck', { sagaId, generation: state.generation, resumes: state.resumes });
  }
  if (await revive(dependencies, head, seen, 'sweeper')) report.resumed.push(sagaId);
};

/** Has the alert of a failed saga sent again, when the alert topic did not take it (S7). */
const alertAgain = async (
  dependencies: SweepDependencies,
  head: SagaHead,
  report: SweepReport,
  asked: boolean,
): Promise<void> => {
  const { clock, log } = dependencies;
  const { sagaId, state } = head;
  if (!isUnalerted(head)) return;
  const seen = await lookAtDriver(dependencies, head);
  // It sends the alert now.
  if (seen === 'running') return;
  report.unalerted.push(sagaId);
  if (!asked && !isAlertDue(head, clock.now().getTime())) return;
  log.warn('nobody was alerted of a failed saga; its alert is sent again', {
    sagaId,
    generation: state.generation,
  });
  if (await revive(dependencies, head, seen, 'sweeper')) report.resumed.push(sagaId);
};

/**
 * Looks at every open saga, or at one. A saga that makes no progress is retried at growing intervals,
 * unless an operator asks for it by name. An error with one saga is reported and does not stop the others.
 * For a saga asked for by name, the error is thrown.
 */
export const createSweep =
  (dependencies: SweepDependencies) =>
  async (only?: { sagaId: string; asked: boolean }): Promise<SweepReport> => {
    const { store, clock, log } = dependencies;
    const report: SweepReport = { looked: 0, resumed: [], woken: [], stuck: [], unalerted: [], failed: [] };
    const look = async (sagaId: string, asked: boolean) => {
      const head = await store.getHead(sagaId);
      if (head === undefined) return;
      if (head.state.phase === 'done') {
        if (await afterEnd(dependencies, head)) report.resumed.push(sagaId);
        else await alertAgain(dependencies, head, report, asked);
        return;
      }
      report.looked += 1;
      await sweepOne(dependencies, head, report, asked);
    };
    if (only !== undefined) {
      await look(only.sagaId, only.asked);
      return report;
    }
    const attempt = async ({ sagaId }: SagaOutline) => {
      try {
        await look(sagaId, false);
      } catch (error) {
        log.warn('saga could not be swept', { sagaId, reason: String(error) });
        report.failed.push(sagaId);
      }
    };
    for (const status of SWEPT) {
      let cursor: string | undefined;
      do {
        const page = await store.listByStatus(status, PAGE, cursor);
        await mapAtOnce(dueOf(page.items, status, clock.now().getTime()), LOOKS_AT_ONCE, attempt);
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    return report;
  };
