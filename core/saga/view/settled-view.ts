/** Shows a saga as it was before it began or as it is after its end, never an intermediate state. Pure. */
import type { Observation, SagaStatus } from '../../../contract/saga-observation.ts';
import { TERMINAL_STATUSES } from '../model/head.ts';

const ADVICE = {
  runs: 'The saga is not over. As long as it is not, nothing of it counts. Ask again.',
  provisional:
    'The saga is done, but the one that runs it is not over and may take it back. Until then nothing of it counts. Ask again.',
};

export const isOver = (status: SagaStatus): boolean => TERMINAL_STATUSES.some((one) => one === status);

/**
 * Leaves out what a running saga did, because it may yet be taken back. The same holds for a completed saga
 * whose root is not over (`isRootOver`).
 */
export const settledView = (seen: Observation, isRootOver: boolean): Observation => {
  const isProvisional = seen.status === 'COMPLETED' && !isRootOver;
  if (isOver(seen.status) && !isProvisional) return seen;
  const {
    doing: _,
    rejected: __,
    approvals: _approvals,
    approvalsNotListed: _notListed,
    children: ___,
    childrenNotListed: _children,
    committedNotListed: _committed,
    compensatedNotListed: _compensated,
    notCompensatedNotListed: _notCompensated,
    ...rest
  } = seen;
  return {
    ...rest,
    committed: [],
    compensated: [],
    notCompensated: [],
    results: [],
    advice: isProvisional ? ADVICE.provisional : ADVICE.runs,
  };
};
