/** Derives events about sagas from changes of their heads: no event without its row. */

import type { EventName } from '../../../contract/events.ts';
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { EventBus, WalkbackEvent } from '../../shared/events.ts';
import { settleInOrder } from '../../shared/settle-in-order.ts';
import type { Log } from '../../shared/surroundings.ts';
import type { SagaHead } from '../model/head.ts';

/** One change of a head, as the table's stream reports it. */
export interface HeadChange {
  id: string;
  before?: SagaHead;
  after?: SagaHead;
}

/** Used by alarms and the event for a saga that is being undone for longer than its tools allow. */
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

export const createPublishSagaChanges =
  ({ events, log }: { events: EventBus; log: Log }) =>
  (changes: readonly HeadChange[]): Promise<number | undefined> =>
    settleInOrder(
      changes,
      async (change) => {
        const told = sagaEventsOf(change);
        if (told.length > 0) await events.publish(told);
      },
      log,
    );
