/** Locks, slots and the lines before them, in the Sagas table. Permits are granted by the store's own transaction. */
import * as z from 'zod';
import type { Claim, Permit, Ticket } from '../../../core/saga/model/permit.ts';
import type { PermitStore } from '../../../core/saga/ports.ts';
import { type Condition, isNew } from '../conditions.ts';
import { itemReader } from '../read-item.ts';
import type { Table } from '../table.ts';
import type { Key } from '../table-reads.ts';
import { transact, type Write } from '../table-writes.ts';
import { BUSY } from './saga-items.ts';

const PERMIT = 'PERMIT#';
const WAIT = 'WAIT#';

const partitionOf = (semaphore: string): string => `SEMAPHORE#${semaphore}`;
const heldPartition = (rootId: string): string => `SEMAPHORES#${rootId}`;
const permitKey = ({ semaphore, number }: Pick<Permit, 'semaphore' | 'number'>): Key => ({
  pk: partitionOf(semaphore),
  sk: `${PERMIT}${String(number).padStart(4, '0')}`,
});
/** Sorted in the order of the line. */
const ticketKey = ({ semaphore, root, sagaId }: Ticket): Key => ({
  pk: partitionOf(semaphore),
  sk: `${WAIT}${root.startedAt}#${root.sagaId}#${sagaId}`,
});
const heldKey = ({ holder, semaphore }: Pick<Permit, 'holder' | 'semaphore'>): Key => ({
  pk: heldPartition(holder),
  sk: semaphore,
});

const permitItem = z.object({
  semaphore: z.string(),
  number: z.int(),
  holder: z.string(),
  fencingToken: z.int(),
  since: z.string(),
  label: z.string(),
});
const ticketItem = z.object({
  semaphore: z.string(),
  root: z.object({ sagaId: z.string(), startedAt: z.string() }),
  sagaId: z.string(),
  seq: z.int(),
});

/** The sagas and their ledgers say who holds what, so losing such an item loses nothing. */
const UNREADABLE = {
  table: 'Sagas',
  error: 'ItemUnreadable',
  advice: () => 'Restore the item from a backup.',
} as const;
const readPermit = itemReader(UNREADABLE, (item): Permit => permitItem.parse(item));
const readTicket = itemReader(UNREADABLE, (item): Ticket => ticketItem.parse(item));

const isGrantBefore = (fencingToken: number): Condition => ({
  expression: '#fencingToken = :before',
  names: { '#fencingToken': 'fencingToken' },
  values: { ':before': fencingToken - 1 },
});

const isSame = (name: string, value: number): Condition => ({
  expression: '#name = :value',
  names: { '#name': name },
  values: { ':value': value },
});

const isLock = ({ semaphore }: Pick<Permit, 'semaphore'>): boolean => semaphore.startsWith('lock:');

/** The writes of a claim: a permit is granted once with each token. */
export const claimWrites = (tableName: string, claims: readonly Claim[]): Write[] =>
  claims.flatMap((one): Write[] => {
    if (one.claim === 'ticket') return [{ tableName, item: { ...ticketKey(one.ticket), ...one.ticket } }];
    const { permit } = one;
    const condition = permit.fencingToken === 1 ? isNew : isGrantBefore(permit.fencingToken);
    const held = { tableName, item: { ...heldKey(permit), ...permit } };
    return [
      { tableName, item: { ...permitKey(permit), ...permit }, condition },
      ...(isLock(permit) ? [held] : []),
    ];
  });

/** Tickets are read in pages of this size, because mostly only the first one is needed. */
const LINE_PAGE = 10;

export const permitMethods = (table: Table): PermitStore => {
  async function* line(semaphore: string): AsyncGenerator<Ticket> {
    // After all permits and before all tickets.
    let after: string | undefined = WAIT;
    while (after !== undefined) {
      const { items, hasMore }: Awaited<ReturnType<typeof table.page>> = await table.page(
        partitionOf(semaphore),
        { after },
        LINE_PAGE,
      );
      yield* items.map(readTicket);
      after = hasMore ? String(items.at(-1)?.['sk']) : undefined;
    }
  }

  return {
    granted: async (semaphore) =>
      (await table.query(partitionOf(semaphore), { prefix: PERMIT })).map(readPermit),
    line,
    leave: (ticket) => table.remove(ticketKey(ticket), isSame('seq', ticket.seq)),
    heldBy: async (rootId) => (await table.query(heldPartition(rootId))).map(readPermit),
    release: async ({ semaphore, number, holder, fencingToken }) => {
      const key = permitKey({ semaphore, number });
      const item = await table.get(key);
      const stored = item && readPermit(item);
      if (stored?.holder === holder && stored.fencingToken === fencingToken) {
        const condition: Condition = {
          expression: '#holder = :holder AND #fencingToken = :fencingToken',
          names: { '#holder': 'holder', '#fencingToken': 'fencingToken' },
          values: { ':holder': holder, ':fencingToken': fencingToken },
        };
        const item = { ...key, ...stored, holder: '' };
        await transact(table.client, [{ tableName: table.tableName, item, condition }], BUSY);
      }
      if (isLock({ semaphore })) {
        // It may have been granted to the same root again.
        await table.remove(heldKey({ holder, semaphore }), isSame('fencingToken', fencingToken));
      }
    },
  };
};
