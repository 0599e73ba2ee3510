/** The answers of the functions about workspaces. */
import * as z from 'zod';

const preflightCheck = () =>
  z.object({
    id: z
      .string()
      .describe(
        'shell, git, tools, uploads, need:<command>, projects-root, write, disk, repositories or prompts',
      ),
    ok: z.boolean(),
    found: z.string().describe('what is there'),
    advice: z.string().describe('what to do; empty where nothing is to be done'),
  });
/** One thing that work in a sandbox needs. */
export type PreflightCheck = z.infer<ReturnType<typeof preflightCheck>>;

export const preflightAnswer = () =>
  z.object({
    ok: z.boolean().describe('every check is'),
    checks: z.array(preflightCheck()),
  });
export type PreflightAnswer = z.infer<ReturnType<typeof preflightAnswer>>;
