/** What an observation says about rewinds. Pure. */
import { proofOf } from '../../../contract/identity.ts';
import type { Observation } from '../../../contract/saga-observation.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';

export const REWIND_ADVICE = {
  undoing:
    'The saga is being rewound: its last effects are undone, then it goes on. Wait until it does. Read the guidance.',
  stopped:
    'The rewind stopped, because some effects could not be undone. A person has to repair them, then the saga goes on. Do not undo them yourself.',
} as const;

/** The last rewind that was not given up by a cancel. */
const lastRewind = (entries: readonly LedgerEntry[]) => {
  const asked = entries.findLast(
    (entry) => entry.status === 'rewind_requested' && entry.guidance !== undefined,
  );
  const isGivenUp = entries.some(
    ({ seq, status }) => seq > (asked?.seq ?? 0) && status === 'cancel_requested',
  );
  return isGivenUp ? undefined : asked;
};

/** The guidance in force: the last one that was given. */
export const guidanceOf = (entries: readonly LedgerEntry[]): Pick<Observation, 'guidance'> => {
  const asked = lastRewind(entries);
  if (asked?.status !== 'rewind_requested' || asked.guidance === undefined) return {};
  const { guidance: text, actor: by, person, at } = asked;
  return { guidance: { text, by, proof: proofOf(by, person), at } };
};

export const rewindOf = (
  { state }: SagaHead,
  entries: readonly LedgerEntry[],
): Pick<Observation, 'rewind'> => {
  if (state.rewind === undefined) return {};
  const asked = entries.findLast((entry) => entry.status === 'rewind_requested');
  if (asked?.status !== 'rewind_requested') return {};
  const { requestId, actor: by, person, at, after } = asked;
  return { rewind: { requestId, by, proof: proofOf(by, person), at, after } };
};
