/** The inputs of the functions about workspaces: what a sandbox has, and whether work is done. Strict, as all are (C10). */
import * as z from 'zod';
import {
  absolutePath,
  checkpointId,
  id,
  joinedRequestId,
  line,
  relativePath,
  sandboxId,
  shellText,
  template,
} from './fields.ts';

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

/** Of the function; a tool is called under a key of its own, and its stored versions stay as they are. */
export const preflightRequest = () => preflightInput().safeExtend({ requestId: joinedRequestId });

/** All of them have to fit into one call of the function, with time to make the copy. */
const MAX_SECONDS_TOGETHER = 720;

/** An assertion that decides whether work is done: a command, and how it must end. */
export const commitment = () =>
  z.strictObject({
    id,
    description: line(512).describe('what is promised, for people'),
    command: shellText(8192).describe('bash, run as the commands of an agent are'),
    cwd: relativePath(1024).optional().describe('relative to the projects root; default: the projects root'),
    expectExitCode: z.int().min(0).max(255).default(0),
    timeoutSeconds: z.int().min(1).max(600).default(60),
  });
export type Commitment = z.output<ReturnType<typeof commitment>>;

export const commitments = () =>
  z
    .array(commitment())
    .min(1)
    .max(20)
    .refine((all) => new Set(all.map((one) => one.id)).size === all.length, {
      error: 'each needs an id of its own',
    })
    .refine(
      (all) => all.reduce((sum, { timeoutSeconds }) => sum + timeoutSeconds, 0) <= MAX_SECONDS_TOGETHER,
      { error: `timeoutSeconds of all together must be at most ${MAX_SECONDS_TOGETHER}` },
    );

export const verifyCommitmentsInput = () =>
  z
    .strictObject({
      sessionId: id,
      messageId: id.optional(),
      checkpointId: checkpointId.optional().describe('without either: the head'),
      commitments: commitments().describe('run one after the other, in one copy'),
      template: template.optional().describe('of the copy; default: that of the session'),
      allowPartial: z.boolean().optional().describe('takes a checkpoint that is not complete'),
    })
    .refine((value) => value.messageId === undefined || value.checkpointId === undefined, {
      path: ['messageId'],
      error: 'give messageId or checkpointId, not both',
    });
export type VerifyCommitmentsInput = z.output<ReturnType<typeof verifyCommitmentsInput>>;

/** Of the function. */
export const verifyCommitmentsRequest = () =>
  verifyCommitmentsInput().safeExtend({ requestId: joinedRequestId });
