/** A tool that works on a resource which nobody else may touch meanwhile, and a saga that holds it. */
import * as z from 'zod';
import { defineTool } from '../../kit/define-tool.ts';

type Seen = (call: { sagaId: string; fencingToken?: number | undefined }) => void;

export const exclusiveTool = (seen: Seen = () => undefined) =>
  defineTool({
    name: 'work',
    version: '1',
    description: 'Works on a resource that nobody else may touch',
    effect: 'compensatable',
    timeoutSeconds: 20,
    resourceKey: 'key',
    exclusive: true,
    input: z.strictObject({ key: z.string() }),
    output: z.object({ done: z.boolean() }),
    execute: async (_, call) => {
      seen(call);
      return { done: true };
    },
    compensate: { name: 'unwork', execute: async () => undefined },
  });

/** Input of `start-saga`. With `approval` it holds the resource until somebody answers. */
export const workOn = (sagaId: string, key: string, { approval = false } = {}) => ({
  sagaId,
  plan: {
    steps: [
      {
        id: 's0',
        tool: 'work',
        arguments: { key },
        ...(approval ? { approval: { timeoutSeconds: 600 } } : {}),
      },
    ],
  },
  input: {},
  requestedBy: 'agent-7',
});
