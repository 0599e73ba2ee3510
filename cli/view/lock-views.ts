import type { LocksAnswer } from '../../contract/saga-lists.ts';
import { printableLine } from '../../present/text.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime } from '../terminal/text.ts';
import { statusWord } from './saga-views.ts';

const SHOWN_WAITING = 3;

const waitingText = (waiting: readonly string[]): string => {
  if (waiting.length === 0) return '-';
  const more = waiting.length - SHOWN_WAITING;
  const shown = waiting.slice(0, SHOWN_WAITING).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
};

/** Sagas that wait for a lock, in the order in which they get it. */
export const waitingTable = (locks: LocksAnswer['locks'], paint: Paint): string => {
  const columns = [{ head: 'SAGA' }, { head: 'WAITS FOR' }, { head: 'HELD BY' }];
  const rows = locks.flatMap(({ resourceKey, sagaId, waiting }) =>
    waiting.map((one) => [one, resourceKey, sagaId].map(printableLine)),
  );
  return table(columns, rows, paint);
};

export const locksTable = (locks: LocksAnswer['locks'], paint: Paint, now: Date): string => {
  if (locks.length === 0) return 'No locks.\n';
  const columns = [
    { head: 'RESOURCE' },
    { head: 'SAGA' },
    { head: 'STATUS' },
    { head: 'SINCE' },
    { head: 'WAITING' },
  ];
  const rows = locks.map((lock) => [
    printableLine(lock.resourceKey),
    printableLine(lock.sagaId),
    statusWord(lock.status, paint),
    formatTime(lock.since, now),
    printableLine(waitingText(lock.waiting)),
  ]);
  return table(columns, rows, paint);
};
