/**
 * Checks that the head of a saga agrees with its ledger: the end of the chain, the folded state, who asked
 * and when. Only the ledger is the truth, so a head is compared with it before anything from it is shown.
 * Pure.
 */

import { canonicalJson } from '../../shared/canonical-json.ts';
import { apply, initialState } from '../decide/fold.ts';
import { isSameTurn, type SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';

const meansTheSame = (one: unknown, other: unknown): boolean => canonicalJson(one) === canonicalJson(other);

interface Followed {
  state: SagaState;
  /** Times at which the last status may have begun. Entries of one moment may be one move or several. */
  since: Set<string>;
  /** Number of times that an entry has another time or author than the one before. */
  moments: number;
}

/** Folds the entries, and tracks when the status changed. Throws when they describe an impossible saga. */
const follow = (entries: readonly LedgerEntry[]): Followed => {
  let state = initialState(0);
  let since = new Set<string>();
  let moments = 0;
  for (let next = 0; next < entries.length; moments += 1) {
    const { at, actor } = entries[next] ?? { at: '', actor: '' };
    const before = state;
    let turned = next === 0;
    for (; entries[next]?.at === at && entries[next]?.actor === actor; next += 1) {
      const entry = entries[next];
      if (entry === undefined) break;
      const last = state;
      state = apply(state, entry);
      turned ||= !isSameTurn(last, state);
    }
    const changed = moments === 0 || !isSameTurn(before, state);
    if (changed) since = new Set([at]);
    else if (turned) since.add(at);
  }
  return { state, since, moments };
};

/** Parts of the state that differ, as `state.status`. */
const differingState = (head: SagaState, folded: SagaState): string[] => {
  const names = new Set([...Object.keys(head), ...Object.keys(folded)]);
  const of = (state: SagaState) => new Map<string, unknown>(Object.entries(state));
  const [mine, theirs] = [of(head), of(folded)];
  return [...names]
    .filter((name) => !meansTheSame(mine.get(name), theirs.get(name)))
    .map((name) => `state.${name}`);
};

/**
 * The names of head fields that disagree with the whole ledger; empty when all agree. The chain of the
 * entries must be checked before. `unfoldable` when no saga can have these entries.
 */
export const differingHeadFields = (head: SagaHead, entries: readonly LedgerEntry[]): string[] => {
  const [first] = entries;
  const last = entries.at(-1);
  if (first?.direction !== 'saga' || first.status !== 'started' || last === undefined) return ['unfoldable'];
  let followed: Followed;
  try {
    followed = follow(entries);
  } catch {
    return ['unfoldable'];
  }
  const { state, since, moments } = followed;
  const told: [keyof SagaHead, boolean][] = [
    ['sagaId', head.sagaId === first.sagaId],
    ['version', head.version >= moments && head.version <= entries.length],
    ['planHash', head.planHash === first.planHash],
    ['inputHash', head.inputHash === first.inputHash],
    ['definition', head.definition === first.definition],
    ['requestHash', head.requestHash === first.requestHash],
    ['parent', meansTheSame(head.parent ?? null, first.parent ?? null)],
    ['root', head.root === first.root],
    ['sessionId', head.sessionId === first.sessionId],
    ['messageId', head.messageId === first.messageId],
    ['project', head.project === first.project],
    ['maxConcurrent', head.maxConcurrent === first.maxConcurrent],
    ['requestedBy', head.requestedBy === first.actor],
    ['createdAt', head.createdAt === first.at],
    ['updatedAt', head.updatedAt === last.at],
    ['statusSince', since.has(head.statusSince)],
  ];
  return [...differingState(head.state, state), ...told.flatMap(([name, holds]) => (holds ? [] : [name]))];
};
