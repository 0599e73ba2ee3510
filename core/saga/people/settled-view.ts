/** A saga as it was before, or as it is after: never what is only there while it runs. Pure. */
import type { Observation } from '../../../contract/saga-answers.ts';
import { TERMINAL_STATUSES } from '../model/head.ts';

const ADVICE = 'The saga is not over. As long as it is not, nothing of it counts. Ask again.';

/** What a running saga did is left out, because it may yet be taken back. */
export const settledView = (seen: Observation): Observation => {
  if (TERMINAL_STATUSES.some((status) => status === seen.status)) return seen;
  const {
    doing: _,
    rejected: __,
    children: ___,
    childrenNotListed: _children,
    committedNotListed: _committed,
    compensatedNotListed: _compensated,
    notCompensatedNotListed: _notCompensated,
    ...rest
  } = seen;
  return { ...rest, committed: [], compensated: [], notCompensated: [], results: [], advice: ADVICE };
};
