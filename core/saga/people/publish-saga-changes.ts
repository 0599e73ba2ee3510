/** Derives events about sagas from changes of their heads: no event without its row. */

import type { EventName, SagaNotice } from '../../../contract/events.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { EventBus, WalkbackEvent } from '../../shared/events.ts';
import { settleInOrder } from '../../shared/settle-in-order.ts';
import type { Log } from '../../shared/surroundings.ts';
import { readLedger } from '../entries/read-ledger.ts';
import { createSagaEffects } from '../ledger/effect-rows.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaStore } from '../ports.ts';
import { observeBelow } from '../view/family-view.ts';
import { noticeOf } from '../view/notice.ts';
import { observe } from '../view/observation.ts';

/** One change of a head, as the table's stream reports it. */
export interface HeadChange {
  id: string;
  before?: SagaHead;
  after?: SagaHead;
}

/** Name of an event, which alarms use too: a saga is being undone for longer than its tools allow. */
const COMPENSATION_DELAYED = 'COMPENSATION_DELAYED';

const NAMES: Partial<Record<SagaStatus, EventName>> = {
  AWAITING: 'saga.awaiting',
  COMPENSATING: 'saga.compensating',
  COMPLETED: 'saga.completed',
  COMPENSATED: 'saga.compensated',
  COMPENSATION_FAILED: 'saga.compensation_failed',
};

const delayedIn = (head: SagaHead | undefined): number =>
  head?.state.effects.filter(({ status }) => status === 'undo_delayed').length ?? 0;

/** A pause is no change of status: compare with the status it interrupted. */
const nameOf = (before: SagaHead | undefined, after: SagaHead): EventName | undefined => {
  if (before === undefined) return 'saga.started';
  if (delayedIn(after) > 0 && delayedIn(before) === 0) return 'saga.compensation_delayed';
  if (before.state.status === after.state.status) return undefined;
  const back =
    before.state.status === 'PAUSED' &&
    after.state.status === 'COMPENSATING' &&
    before.state.phase === 'undo';
  return back ? undefined : NAMES[after.state.status];
};

const sagaEventsOf = ({ id, before, after }: HeadChange): WalkbackEvent[] => {
  if (after === undefined) return [];
  const name = nameOf(before, after);
  if (name === undefined) return [];
  const { sagaId, state, definition, sessionId, requestedBy } = after;
  const detail = {
    sagaId,
    status: state.status,
    definition,
    sessionId,
    requestedBy,
    failure: state.failure ?? undefined,
    ...(name === 'saga.compensation_delayed' && { code: COMPENSATION_DELAYED, delayed: delayedIn(after) }),
  };
  return [{ id, name, at: after.updatedAt, detail }];
};

type Tell = Pick<SagaStore, 'getHead' | 'pageEntries'>;

/** What the ledger adds to an event for people. */
const fromLedger = async (
  store: Tell,
  head: SagaHead,
  name: EventName,
  consoleUrl: string | undefined,
): Promise<{ notice?: SagaNotice; secondsToReconcile?: number }> => {
  if (name !== 'saga.awaiting' && name !== 'saga.compensation_failed' && name !== 'saga.compensated')
    return {};
  const entries = await readLedger(store, head.sagaId, head.seq);
  if (name === 'saga.compensated') {
    const effects = createSagaEffects();
    for (const entry of entries) effects.add(entry);
    const seconds = effects.end().failures.at(-1)?.reconciliation.seconds ?? null;
    return seconds === null ? {} : { secondsToReconcile: seconds };
  }
  const hasFailed = name === 'saga.compensation_failed';
  const seen = hasFailed ? await observeBelow(store, head, entries) : observe(head, entries);
  const notice = noticeOf(seen, consoleUrl);
  return notice === undefined ? {} : { notice };
};

interface PublishDependencies {
  events: EventBus;
  log: Log;
  store: Tell;
  /** Address of the console, for links. */
  consoleUrl?: string | undefined;
}

export const createPublishSagaChanges = ({ events, log, store, consoleUrl }: PublishDependencies) => {
  /**
   * What the ledger adds to an event. If the ledger is not as it was written, the event goes out without that
   * part.
   */
  const added = async (head: SagaHead, name: EventName): Promise<object> => {
    try {
      return await fromLedger(store, head, name, consoleUrl);
    } catch (error) {
      if (!isWalkbackError(error) || error.retryable) throw error;
      log.warn(`The ledger of saga ${head.sagaId} cannot be read for ${name}`, { error: error.message });
      return {};
    }
  };
  return (changes: readonly HeadChange[]): Promise<number | undefined> =>
    settleInOrder(
      changes,
      async (change) => {
        const [told] = sagaEventsOf(change);
        if (told === undefined || change.after === undefined) return;
        const more = await added(change.after, told.name);
        await events.publish([{ ...told, detail: { ...told.detail, ...more } }]);
      },
      log,
    );
};
