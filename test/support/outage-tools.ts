/** The manifest of a tool that says nothing of its own about attempts: the kit's defaults. */
import * as z from 'zod';
import { defineTool } from '../../kit/define-tool.ts';
import { manifestOf } from '../../kit/manifest.ts';

export const plainTool = manifestOf(
  defineTool({
    name: 'plain',
    version: '1',
    description: '',
    input: z.object({}),
    output: z.object({}),
    effect: 'compensatable',
    execute: async () => ({}),
    compensate: { name: 'undo_plain', execute: async () => undefined },
  }),
  'fn',
);
