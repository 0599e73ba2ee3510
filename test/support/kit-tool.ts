/** A tool of the kit, and calls of it. */
import * as z from 'zod';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool, type ToolDefinition } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { requestOf } from './tool-requests.ts';

const input = z.strictObject({ n: z.int() });
const output = z.object({ id: z.string() });
export type Definition = ToolDefinition<typeof input, typeof output>;
export const FACTS = {
  name: 'act',
  version: '1',
  description: 'acts',
  input,
  output,
  execute: async () => ({ id: 'x1' }),
};
export const compensate = { name: 'undo_act', execute: async () => undefined };

export const make = (more: Partial<Definition> = {}) =>
  defineTool({
    ...FACTS,
    effect: 'compensatable',
    externalRef: ({ id }) => id,
    compensate,
    ...more,
  } as Definition);

export const call = (more: Partial<Definition>, event: unknown = requestOf()) =>
  toolHandler([make(more)], { tombstones: memoryTombstones() })(event);
