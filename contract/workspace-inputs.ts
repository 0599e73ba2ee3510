/** The inputs of the functions about workspaces: what a sandbox has, and whether work is done. Strict, as all are (C10). */
import * as z from 'zod';
import { absolutePath, sandboxId, template } from './fields.ts';

/** As `command -v` takes it. */
const toolName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/, 'must be the name of a command, without a path');

export const preflightInput = () =>
  z
    .strictObject({
      sandboxId: sandboxId.optional().describe('a sandbox that is running'),
      template: template
        .optional()
        .describe('or a template: a sandbox of it is made, looked at and killed; give one of the two'),
      projectsRoot: absolutePath.describe('the directory in the sandbox that the repositories are in'),
      needs: z
        .array(toolName)
        .max(50)
        .optional()
        .describe('commands that the agent needs, beside what Walkback needs'),
    })
    .refine((value) => (value.sandboxId === undefined) !== (value.template === undefined), {
      path: ['sandboxId'],
      error: 'give either sandboxId or template, and not both',
    });
export type PreflightInput = z.output<ReturnType<typeof preflightInput>>;
