/**
 * Finds the effects that an undo or a rewind was allowed to leave, as the entries of a saga are read, oldest
 * first. It follows the fold (decide/fold-rewind.ts): an undo accepts at once what nothing takes back, and a
 * rewind accepts what is in its range when it ends. Pure.
 */
import type { LedgerEntry } from '../model/ledger-entry.ts';

/** Who let these effects stand, and why. */
export interface Acceptance {
  /** Places of the effects, as `acceptanceKey` names them. */
  places: string[];
  /** The request that accepted them. */
  request: LedgerEntry & { status: 'undo_requested' | 'rewind_requested' };
}

/** A step has at most one effect in each epoch. */
export const acceptanceKey = (entry: { stepIndex: number; epoch: number }): string =>
  `${entry.stepIndex}@${entry.epoch}`;

export const reasonIn = (request: Acceptance['request']): string | null =>
  (request.status === 'undo_requested' ? request.evidence : request.reason) ?? null;

interface Seen {
  place: string;
  isIrreversible: boolean;
  /** What is known of its call. An effect that a person decided about is `gone` here. */
  outcome: 'none' | 'doubt' | 'happened' | 'gone';
}

export const createAcceptances = () => {
  /** In the order of the state's effects, because a rewind names its floor by index. */
  const effects: Seen[] = [];
  const byPlace = new Map<string, Seen>();
  /** The place of the call that is made or is being settled. The way back decides about it later. */
  let inFlight: string | undefined;
  let rewind: Extract<LedgerEntry, { status: 'rewind_requested' }> | undefined;

  const acceptedFrom = (floor: number): string[] =>
    effects
      .slice(floor)
      .filter(
        ({ place, isIrreversible, outcome }) =>
          isIrreversible && (outcome === 'doubt' || outcome === 'happened') && place !== inFlight,
      )
      .map(({ place }) => place);

  const accept = (request: Acceptance['request'], floor: number): Acceptance[] => {
    const places = request.acceptResidue === true ? acceptedFrom(floor) : [];
    for (const place of places) {
      const seen = byPlace.get(place);
      if (seen !== undefined) seen.outcome = 'gone';
    }
    return places.length === 0 ? [] : [{ places, request }];
  };

  const addSaga = (entry: Extract<LedgerEntry, { direction: 'saga' }>): Acceptance[] => {
    switch (entry.status) {
      case 'undo_requested':
        return accept(entry, 0);
      case 'rewind_requested':
        rewind = entry;
        return [];
      case 'rewound': {
        const ended = rewind;
        rewind = undefined;
        return ended === undefined ? [] : accept(ended, ended.floor);
      }
      // The rewind is given up.
      case 'cancel_requested':
        rewind = undefined;
        return [];
      case 'unwinding':
      case 'unwind_requested':
        inFlight = undefined;
        return [];
      default:
        return [];
    }
  };

  const addForward = (entry: Extract<LedgerEntry, { direction: 'forward' | 'probe' }>): void => {
    const place = acceptanceKey(entry);
    const seen = byPlace.get(place);
    if (entry.direction === 'forward' && entry.status === 'started') {
      if (entry.children === undefined) inFlight = place;
      if (seen !== undefined) return;
      const isIrreversible = entry.effect === 'irreversible';
      // A step that runs sagas counts from its start on: they may have acted.
      const outcome = entry.children === undefined ? 'none' : 'doubt';
      const effect: Seen = { place, isIrreversible, outcome };
      effects.push(effect);
      byPlace.set(place, effect);
      return;
    }
    if (seen === undefined) return;
    if (entry.status === 'committed') {
      seen.outcome = 'happened';
      inFlight = undefined;
    }
    if (entry.direction === 'forward' && entry.status === 'unknown') seen.outcome = 'doubt';
    if (entry.direction === 'forward' && entry.status === 'rejected' && entry.final) {
      // Without a call in flight it is a step that ran sagas, and nothing of them stands.
      if (inFlight !== place) seen.outcome = 'gone';
      else inFlight = undefined;
    }
    // A probe that denies an irreversible effect is believed.
    if (entry.status === 'absent' && seen.isIrreversible) seen.outcome = 'none';
  };

  return {
    /** What this entry accepts. */
    add: (entry: LedgerEntry): Acceptance[] => {
      if (entry.direction === 'saga') return addSaga(entry);
      if (entry.direction === 'forward' || entry.direction === 'probe') addForward(entry);
      if (entry.direction === 'step' && entry.status === 'unwinding') inFlight = undefined;
      if (
        (entry.direction === 'operator' && entry.status !== 'retried') ||
        (entry.direction === 'undo' && entry.status === 'committed')
      ) {
        const seen = byPlace.get(acceptanceKey(entry));
        if (seen !== undefined) seen.outcome = 'gone';
      }
      return [];
    },
  };
};
