/** One round of work of an agent: it works, what it left is recorded, and verified. A round that fails is taken back whole. */
import { DAY_SECONDS } from '../../contract/times.ts';
import type { Plan, ToolPlanStep } from '../../core/saga/model/plan.ts';

const WEEK_SECONDS = 7 * DAY_SECONDS;
const ASK =
  'The commitments were not kept in the rounds that the agent had. Approve: it has one more. Reject: the assignment is given up.';

/** `isAsked`: it begins only when a person says so. */
export const round = ({ isAsked = false }: { isAsked?: boolean } = {}): Plan => {
  const begin: ToolPlanStep = {
    id: 'begin',
    tool: 'begin_work',
    arguments: { sessionId: '{% input.sessionId %}' },
    ...(isAsked && { approval: { timeoutSeconds: WEEK_SECONDS, prompt: ASK } }),
  };
  return {
    steps: [
      begin,
      { id: 'work', interactive: { onIdle: 'ask' }, input: '{% input %}' },
      { id: 'record', tool: 'checkpoint_workspace', arguments: { sessionId: '{% input.sessionId %}' } },
      {
        id: 'verify',
        tool: 'verify_commitments',
        arguments: {
          sessionId: '{% input.sessionId %}',
          checkpointId: '{% steps.record.result.checkpointId %}',
          commitments: '{% input.commitments %}',
        },
      },
    ],
    output: {
      round: '{% input.round %}',
      sessionId: '{% input.sessionId %}',
      checkpointId: '{% steps.record.result.checkpointId %}',
      result: '{% steps.work.result %}',
    },
  };
};
