/** A process that serves one call of a tool that does not look at its signal; prints what it does. */
import * as z from 'zod';
import { memoryTombstones } from '../../../kit/conformance.ts';
import { defineTool } from '../../../kit/define-tool.ts';
import { toolHandler } from '../../../kit/handler.ts';
import { cutShort, requestOf } from '../tool-requests.ts';

/** How long it acts after its deadline. */
const LATE_MS = 400;

const tool = defineTool({
  name: 'act',
  version: '1',
  description: 'acts late',
  effect: 'irreversible',
  input: z.strictObject({}),
  output: z.null(),
  execute: async (_, { deadlineMs }) => {
    process.stdout.write('begins\n');
    await new Promise((resolve) => setTimeout(resolve, deadlineMs - Date.now() + LATE_MS));
    process.stdout.write('acts\n');
    return null;
  },
});

const handle = toolHandler([tool], { tombstones: memoryTombstones() });
const outcome = await cutShort((deadlineMs) => handle(requestOf({ deadlineMs, arguments: {} })));
process.stdout.write(`answers ${JSON.stringify(outcome)}\n`);
