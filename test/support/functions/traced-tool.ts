/** A tool's function as its author writes it, without a word about tracing. */
import * as z from 'zod';
import { memoryTombstones } from '../../../kit/conformance.ts';
import { defineTool } from '../../../kit/define-tool.ts';
import { toolHandler } from '../../../kit/handler.ts';
import { ToolRejected } from '../../../kit/outcomes.ts';

const pay = defineTool({
  name: 'pay',
  version: '1',
  description: 'Pays, but not a secret amount.',
  input: z.strictObject({ amount: z.number() }),
  output: z.strictObject({ paid: z.number() }),
  effect: 'compensatable',
  execute: async ({ amount }) => {
    if (amount > 1000) throw new ToolRejected('TooMuch', 'That is too much.');
    return { paid: amount };
  },
  probe: async () => ({ happened: false }),
  compensate: { name: 'refund', execute: async () => undefined },
});

export const handler = toolHandler([pay], { tombstones: memoryTombstones() });
