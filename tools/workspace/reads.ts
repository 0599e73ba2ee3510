/** The tools that change nothing: they let a plan go on, or stop it before it does anything else. */
import * as z from 'zod';
import { preflightInput, verifyCommitmentsInput } from '../../contract/workspace-inputs.ts';
import { defineTool, type Tool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { REVIEW_BY } from '../review-date.ts';
import { TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, type Uses } from './uses.ts';

/** Of one commitment, in a result and in an error: what is at the end says why. */
const MOST_OUTPUT = 800;

export const preflight = (uses: Uses): Tool =>
  defineTool({
    name: 'preflight',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Refuses when a sandbox, or one of a template, lacks what work in it needs.',
    effect: 'read',
    timeoutSeconds: 300,
    input: preflightInput(),
    output: z.object({ checks: z.array(z.object({ id: z.string(), found: z.string() })) }),
    execute: async (input, call) => {
      const { checks } = await refusing(() => uses.preflight(input, invocationOf(call)));
      const bad = checks.filter(({ ok }) => !ok);
      if (bad.length > 0) {
        const said = bad.map(({ id, found, advice }) => `${id}: ${found}. ${advice}`);
        throw new ToolRejected('SandboxUnsupported', said.join(' ').slice(0, 1000));
      }
      return { checks: checks.map(({ id, found }) => ({ id, found: found.slice(0, 300) })) };
    },
  });

export const verifyCommitments = (uses: Uses): Tool =>
  defineTool({
    name: 'verify_commitments',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Refuses when a commitment is not kept in a fresh copy of a checkpoint.',
    effect: 'read',
    timeoutSeconds: TIMEOUT_SECONDS,
    // A broken commitment is not kept by asking again.
    input: verifyCommitmentsInput(),
    output: z.object({
      checkpointId: z.string(),
      commitments: z.array(
        z.object({ id: z.string(), exitCode: z.int().nullable(), milliseconds: z.int(), output: z.string() }),
      ),
    }),
    execute: async (input, call) => {
      const { checkpointId, commitments } = await refusing(() => uses.verify(input, invocationOf(call)));
      const told = commitments.map(({ output, ...one }) => ({ ...one, output: output.slice(-MOST_OUTPUT) }));
      const broken = told.filter(({ status }) => status !== 'kept');
      if (broken.length > 0) {
        const room = Math.floor(900 / broken.length);
        const said = broken.map(({ id, status, exitCode, output }) => {
          const how = `${id} ${status}${exitCode === null ? '' : ` (exit code ${exitCode})`}`;
          return [how, output.trim()]
            .filter((text) => text !== '')
            .join(': ')
            .slice(0, room);
        });
        throw new ToolRejected('CommitmentsBroken', said.join('\n'));
      }
      return {
        checkpointId,
        commitments: told.map(({ id, exitCode, milliseconds, output }) => ({
          id,
          exitCode,
          milliseconds,
          output,
        })),
      };
    },
  });
