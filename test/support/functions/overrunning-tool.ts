/** A process that serves one call of a tool that does not look at its signal, or blocks; prints what it does. */
import { writeSync } from 'node:fs';
import * as z from 'zod';
import { memoryTombstones } from '../../../kit/conformance.ts';
import { defineTool } from '../../../kit/define-tool.ts';
import { toolHandler } from '../../../kit/handler.ts';
import { cutShort, requestOf } from '../tool-requests.ts';

/** How long it acts after its deadline. One that blocks is ended a second after it. */
const LATE_MS = 400;
const BLOCKED_LATE_MS = 20_000;

const blocks = process.argv[2] === 'blocks';

/** The process runs nothing else meanwhile. */
const block = (forMs: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
};

const tool = defineTool({
  name: 'act',
  version: '1',
  description: 'acts late',
  effect: 'irreversible',
  input: z.strictObject({}),
  output: z.null(),
  execute: async (_, { deadlineMs }) => {
    writeSync(1, 'begins\n');
    if (blocks) block(deadlineMs - Date.now() + BLOCKED_LATE_MS);
    else await new Promise((resolve) => setTimeout(resolve, deadlineMs - Date.now() + LATE_MS));
    writeSync(1, 'acts\n');
    return null;
  },
});

const handle = toolHandler([tool], { tombstones: memoryTombstones() });
const outcome = await cutShort((deadlineMs) => handle(requestOf({ deadlineMs, arguments: {} })));
process.stdout.write(`answers ${JSON.stringify(outcome)}\n`);
