import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { commitments } from '../../contract/workspace-inputs.ts';
import { assignmentFields } from './assignment.ts';
import { defineTemplate } from './define-template.ts';

const MOST_SUBTASKS = 40;

const FORKED = `( $from := {"sessionId": input.sessionId, "checkpointId": steps.begin.result.checkpointId};
  $map(input.subtasks, function($one) { $merge([$one, $from]) }) )`;

/** Subtasks are done side by side, each in a fork of its own; what was done is merged as one entry of the merge queue. */
export const delegate = defineTemplate({
  name: 'delegate',
  version: '1.0.0',
  description:
    'Has agents do subtasks, each an assignment in a fork of its own, then merges what they did through the merge queue.',
  input: z.strictObject({
    sessionId: id.describe('the session that the work comes into'),
    subtasks: z
      .array(z.strictObject(assignmentFields))
      .min(1)
      .max(MOST_SUBTASKS)
      .describe('each with task, commitments and maxRounds, as assignment takes them'),
    commitments: commitments().describe('how it is known that all of it together is right'),
  }),
  plan: {
    steps: [
      { id: 'begin', tool: 'checkpoint_workspace', arguments: { sessionId: '{% input.sessionId %}' } },
      {
        id: 'subtasks',
        each: `{% ${FORKED} %}`,
        plan: {
          steps: [
            {
              id: 'open',
              tool: 'open_workspace',
              arguments: {
                sessionId: '{% input.sessionId %}',
                checkpointId: '{% input.checkpointId %}',
                guidance: '{% input.task %}',
                lifeSeconds: DAY_SECONDS,
              },
            },
            {
              id: 'work',
              saga: { definition: 'assignment' },
              input: {
                sessionId: '{% steps.open.result.sessionId %}',
                task: '{% input.task %}',
                commitments: '{% input.commitments %}',
                maxRounds: '{% input.maxRounds %}',
              },
            },
            {
              id: 'dismiss',
              tool: 'dismiss_workspace',
              arguments: { sessionId: '{% steps.work.result.sessionId %}' },
            },
          ],
          output: '{% steps.work.result %}',
        },
      },
      {
        id: 'unify',
        saga: { definition: 'merge-queue' },
        input: {
          from: '{% $append([], steps.subtasks.result.output.sessionId) %}',
          into: '{% input.sessionId %}',
          commitments: '{% input.commitments %}',
        },
      },
    ],
    output: { merged: '{% steps.unify.result %}', subtasks: '{% steps.subtasks.result %}' },
  },
});
