/** The answers of the functions about workspaces. */
import * as z from 'zod';

const preflightCheck = () =>
  z.object({
    id: z
      .string()
      .describe('git, uploads, need:<command>, projects-root, write, disk, repositories or prompts'),
    ok: z.boolean(),
    found: z.string().describe('what is there'),
    advice: z.string().describe('what to do; empty where nothing is to be done'),
  });
/** One thing that work in a sandbox needs. */
export type PreflightCheck = z.infer<ReturnType<typeof preflightCheck>>;

export const preflightAnswer = () =>
  z.object({
    ok: z.boolean().describe('every check is ok'),
    checks: z.array(preflightCheck()),
  });
export type PreflightAnswer = z.infer<ReturnType<typeof preflightAnswer>>;

const verifiedCommitment = () =>
  z.object({
    id: z.string(),
    status: z
      .enum(['kept', 'broken', 'timed-out', 'not-run'])
      .describe('not-run: the time of the call was over'),
    exitCode: z.int().nullable().describe('null when it did not end by itself, or was not run'),
    milliseconds: z.int().min(0),
    output: z
      .string()
      .describe('what it wrote, stdout and stderr; of a long output, the beginning and the end'),
    isCut: z.boolean().describe('the middle of the output is missing'),
  });
export type VerifiedCommitment = z.infer<ReturnType<typeof verifiedCommitment>>;

export const verifyCommitmentsAnswer = () =>
  z.object({
    sessionId: z.string(),
    checkpointId: z.string().describe('what was verified'),
    ok: z.boolean().describe('every commitment is kept'),
    commitments: z.array(verifiedCommitment()),
    warnings: z.array(z.string()),
  });
export type VerifyCommitmentsAnswer = z.infer<ReturnType<typeof verifyCommitmentsAnswer>>;
