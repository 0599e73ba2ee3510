/** The reason why a saga turns back although no step failed. */
import type { Fact, Failure } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';

type Turn = Fact & { status: 'unwinding'; failure: Failure };

const turn = (name: string, message: string): Turn => ({
  direction: 'saga',
  status: 'unwinding',
  failure: { step: null, tool: null, error: { name, message }, outcome: 'cancelled' },
});

export const CANCELLED: Turn = turn('Cancelled', 'The saga was cancelled.');
export const UNDONE: Turn = turn('Undone', 'The finished saga was undone.');
export const REWINDING: Turn = turn('Rewound', 'The saga is being rewound.');

/** The fact that turns a saga round on somebody's command, once none of its calls is in flight. */
export const turningFact = ({ cancelRequested, rewind }: SagaState): Turn | undefined => {
  if (cancelRequested) return CANCELLED;
  return rewind === undefined ? undefined : REWINDING;
};
