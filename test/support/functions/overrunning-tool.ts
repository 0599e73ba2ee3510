/** A process that serves one call of a tool that does not look at its signal; prints what it does. */
import * as z from 'zod';
import { memoryTombstones } from '../../../kit/conformance.ts';
import { defineTool } from '../../../kit/define-tool.ts';
import { toolHandler } from '../../../kit/handler.ts';
import { requestOf } from '../tool-requests.ts';

const DEADLINE_MS = 400;

const tool = defineTool({
  name: 'act',
  version: '1',
  description: 'acts late',
  effect: 'irreversible',
  input: z.strictObject({}),
  output: z.null(),
  execute: async () => {
    process.stdout.write('begins\n');
    await new Promise((resolve) => setTimeout(resolve, 2 * DEADLINE_MS));
    process.stdout.write('acts\n');
    return null;
  },
});

const outcome = await toolHandler([tool], { tombstones: memoryTombstones() })(
  requestOf({ deadlineMs: Date.now() + DEADLINE_MS, arguments: {} }),
);
process.stdout.write(`answers ${JSON.stringify(outcome)}\n`);
