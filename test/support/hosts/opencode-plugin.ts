/** What opencode loads in the test: our plugin, and one with the script's tool. */
import * as z from 'zod';
import { walkbackPlugin } from '../../../client/integrations/opencode.ts';

const mode = process.env['ON_CHECKPOINT_ERROR'] === 'warn' ? 'warn' : 'block';

export const Undo = walkbackPlugin({ onCheckpointError: mode });

const args = { id: z.string(), tool: z.string(), path: z.string(), text: z.string() };

export const Script = async () => ({
  tool: {
    script_edit: {
      description: 'edits',
      args,
      execute: async (call: object, { abort }: { abort: AbortSignal }): Promise<string> => {
        const body = JSON.stringify(call);
        const response = await fetch(process.env['ACT_URL'] ?? '', { method: 'POST', body, signal: abort });
        return response.text();
      },
    },
  },
});
