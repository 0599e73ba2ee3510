/** Which approvals people gave or declined, and how each of them proved who they are. Pure. */
import { proofOf } from '../../../contract/identity.ts';
import type { Observation } from '../../../contract/saga-observation.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';

/** A plan has up to 1,000 steps, and a rewind asks again. */
const MAX_LISTED = 100;

/** The last ones, oldest first. */
export const approvalsOf = (
  entries: readonly LedgerEntry[],
): Pick<Observation, 'approvals' | 'approvalsNotListed'> => {
  const answers = entries.flatMap((entry) => {
    if (entry.direction !== 'approval') return [];
    const { status, step, epoch, actor: by, person, at } = entry;
    if (status !== 'approved' && status !== 'declined') return [];
    return [{ step, ...(epoch > 0 && { epoch }), decision: status, by, proof: proofOf(by, person), at }];
  });
  if (answers.length === 0) return {};
  const left = answers.length - MAX_LISTED;
  return { approvals: answers.slice(-MAX_LISTED), ...(left > 0 && { approvalsNotListed: left }) };
};
