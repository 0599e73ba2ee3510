import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Invoke } from '../../contract/invoke.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import type { Desk } from './desks.ts';

const DAY_SECONDS = 24 * 3600;

/** An id that checkpoints and rollbacks take, for a key. */
const idOf = (key: string): string => `work-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;

/** `sagaId` is the child whose step it is. */
export type OnWork = (work: { desk: Desk; sagaId: string; moment: 'before' | 'after' }) => Promise<void>;

export interface PrepareReturnDependencies {
  invoke: Invoke;
  desks: ReadonlyMap<string, Desk>;
  /** Called before an agent touches its desk, and when it has done its work. */
  onWork?: OnWork | undefined;
}

/**
 * An agent works at its desk. The work belongs to the customer alone (`exclusive`), and is undone by rolling all
 * repositories of the desk back to the checkpoint before it.
 */
export const prepareReturn = ({ invoke, desks, onWork }: PrepareReturnDependencies) => {
  const deskOf = (agent: string): Desk => {
    const desk = desks.get(agent);
    if (desk === undefined) throw new ToolRejected('UnknownAgent', `There is no desk of ${agent}.`);
    return desk;
  };
  /** What a person told the root of the tree when it was rewound. */
  const guidanceFor = async (sagaId: string): Promise<{ guidance?: string }> => {
    const [root = sagaId] = sagaId.split('.');
    const { guidance } = await invoke('walkback-describe-saga', { sagaId: root });
    return guidance === undefined ? {} : { guidance: guidance.text };
  };

  return defineTool({
    name: 'prepare_return',
    version: '1.0.0',
    description: 'An agent writes the credit note at its desk. Undone by clear_desk.',
    effect: 'compensatable',
    timeoutSeconds: 60,
    idempotencyWindowSeconds: DAY_SECONDS,
    resourceKey: "'customer ' & customer",
    exclusive: true,
    input: z.strictObject({
      agent: z.string().min(1),
      customer: z.string().min(1),
      orderId: z.string().min(1),
    }),
    output: z.object({ checkpointId: z.string() }),
    externalRef: ({ checkpointId }) => checkpointId,
    execute: async ({ agent, orderId }, call) => {
      const desk = deskOf(agent);
      const work = { id: idOf(call.forwardKey), orderId, ...(await guidanceFor(call.sagaId)) };
      await onWork?.({ desk, sagaId: call.sagaId, moment: 'before' });
      const checkpointId = await desk.capture(work);
      await call.fence();
      await desk.write(work);
      await onWork?.({ desk, sagaId: call.sagaId, moment: 'after' });
      return { checkpointId };
    },
    compensate: {
      name: 'clear_desk',
      timeoutSeconds: 60,
      // By key, because the result is missing when the answer was lost; and work that never began is fine.
      execute: async ({ arguments: { agent } }, call) => {
        const externalRef = await deskOf(agent).takeBack(idOf(call.forwardKey));
        return externalRef === undefined ? {} : { externalRef };
      },
    },
  });
};
