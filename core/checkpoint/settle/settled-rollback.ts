/** Describes a rollback that another call settled. Pure. */
import type { SettledRollback } from '../../../contract/answer-fields.ts';
import { firstThatFit, shortened } from '../../shared/bounded.ts';
import { clip } from '../../shared/clip.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import type { AsidesResult } from '../restore/asides.ts';

export interface SettledFacts {
  by: string;
  outcome: SettledRollback['outcome'];
  kept: string[];
  /** How many more there are. */
  keptNotListed?: number;
  target?: Checkpoint;
  undo?: Checkpoint;
  /** The state that was found, if the sandbox was looked at. */
  found?: Checkpoint;
  why?: string;
  /** What other processes wrote while it was settled. */
  late?: AsidesResult;
}

/** Limits for the kept paths, which are also stored in the session's own item. */
const KEPT = { count: 50, bytes: 16 * 1024 };
const MAX_MESSAGE = 8000;

const sentence = (journal: RollbackJournal, facts: SettledFacts): string => {
  const begun = `Rollback "${journal.requestId}" was not finished by its caller.`;
  switch (facts.outcome) {
    case 'closed':
      return `${begun} It had written nothing, so it was closed and nothing was changed.`;
    case 'undone':
      return `${begun} What it had written was put back to ${facts.undo?.checkpointId ?? 'what was there before'}.`;
    case 'given-up':
      return `${begun} It was given up where it stood: ${facts.why ?? 'its sandbox is gone or paused'}.`;
  }
};

const keptSentence = ({ kept, keptNotListed = 0 }: SettledFacts): string => {
  if (kept.length === 0) return '';
  const told = kept.slice(0, 5);
  const left = kept.length - told.length + keptNotListed;
  const more = left > 0 ? `, and ${left} more` : '';
  return ` Work done since stays: ${told.map(shortened).join(', ')}${more}.`;
};

export const settledRollback = (
  journal: RollbackJournal,
  facts: SettledFacts,
  clock: Clock,
): SettledRollback => {
  const found = facts.found?.checkpointId ?? null;
  const where = found === null ? '' : ` What was there when it was settled is checkpoint ${found}.`;
  const kept = firstThatFit(facts.kept.map(shortened), KEPT);
  const keptNotListed = facts.kept.length - kept.length + (facts.keptNotListed ?? 0);
  const late = (facts.late?.warnings ?? []).map((line) => ` ${line}.`).join('');
  return {
    requestId: journal.requestId,
    outcome: facts.outcome,
    targetCheckpointId: facts.target?.checkpointId ?? null,
    undoCheckpointId: facts.undo?.checkpointId ?? null,
    foundCheckpointId: found,
    kept,
    ...(keptNotListed > 0 && { keptNotListed }),
    by: facts.by,
    at: clock.now().toISOString(),
    ...(facts.late?.lateWrites && { lateWrites: facts.late.lateWrites }),
    message: clip(`${sentence(journal, facts)}${keptSentence(facts)}${where}${late}`, MAX_MESSAGE),
  };
};

/** This error is from then on the answer to the rollback's own request. */
export const abandonedError = ({ requestId, message, by }: SettledRollback): WalkbackError =>
  new WalkbackError(
    'RollbackAbandoned',
    `${message} It was settled by ${by}. To roll back, use a new requestId.`,
    { details: { requestId } },
  );
