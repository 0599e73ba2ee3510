import { type Claim, isOlder, type Permit, type Ticket } from '../../core/saga/model/permit.ts';
import type { PermitStore } from '../../core/saga/ports.ts';

/** Locks, slots and lines in memory, with the conditions of the table. */
export const memoryPermits = () => {
  const granted: Permit[] = [];
  const held: Permit[] = [];
  const tickets: Ticket[] = [];

  const isSeat = (one: Permit, other: Pick<Permit, 'semaphore' | 'number'>): boolean =>
    one.semaphore === other.semaphore && one.number === other.number;
  const isTicket = (one: Ticket, other: Ticket): boolean =>
    one.semaphore === other.semaphore && one.sagaId === other.sagaId;
  const without = <T>(list: T[], isMeant: (one: T) => boolean): void => {
    list.splice(0, list.length, ...list.filter((one) => !isMeant(one)));
  };

  /** A permit is granted once with each token. */
  const mayClaim = (claims: readonly Claim[]): boolean =>
    claims.every(
      (one) =>
        one.claim === 'ticket' ||
        (granted.find((permit) => isSeat(permit, one.permit))?.fencingToken ?? 0) + 1 ===
          one.permit.fencingToken,
    );

  const grant = (permit: Permit): void => {
    without(granted, (one) => isSeat(one, permit));
    granted.push(permit);
    if (!permit.semaphore.startsWith('lock:')) return;
    without(held, (one) => one.semaphore === permit.semaphore && one.holder === permit.holder);
    held.push(permit);
  };

  const claim = (claims: readonly Claim[]): void => {
    const places = claims.map((one) =>
      one.claim === 'ticket' ? one.ticket.semaphore : `${one.permit.semaphore} ${one.permit.number}`,
    );
    // Like DynamoDB: no transaction writes an item twice.
    if (new Set(places).size < places.length) throw new Error('one item twice in one transaction');
    for (const one of structuredClone(claims)) {
      if (one.claim === 'permit') {
        grant(one.permit);
        continue;
      }
      without(tickets, (ticket) => isTicket(ticket, one.ticket));
      tickets.push(one.ticket);
    }
  };

  const permits: PermitStore = {
    granted: async (semaphore) =>
      structuredClone(granted.filter((permit) => permit.semaphore === semaphore)).toSorted(
        (one, other) => one.number - other.number,
      ),
    async *line(semaphore) {
      const mine = tickets.filter((ticket) => ticket.semaphore === semaphore);
      yield* structuredClone(mine).toSorted((one, other) => (isOlder(one.root, other.root) ? -1 : 1));
    },
    leave: async (left) => without(tickets, (ticket) => isTicket(ticket, left) && ticket.seq === left.seq),
    heldBy: async (rootId) => structuredClone(held.filter(({ holder }) => holder === rootId)),
    release: async (permit) => {
      const stored = granted.find((one) => isSeat(one, permit));
      if (stored?.holder === permit.holder && stored.fencingToken === permit.fencingToken) {
        without(granted, (one) => isSeat(one, permit));
        granted.push({ ...stored, holder: '' });
      }
      const isHeld = (one: Permit): boolean =>
        one.semaphore === permit.semaphore &&
        one.holder === permit.holder &&
        one.fencingToken === permit.fencingToken;
      without(held, isHeld);
    },
  };
  return { permits, mayClaim, claim };
};
