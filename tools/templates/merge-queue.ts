import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { commitments } from '../../contract/workspace-inputs.ts';
import { defineTemplate } from './define-template.ts';

const MOST_FORKS = 40;

/**
 * One entry of the queue of a project. What is verified is exactly what is applied: nobody works in the staging fork, it is ended
 * before it is applied, and the target must be as it was when the fork began.
 */
export const mergeQueue = defineTemplate({
  name: 'merge-queue',
  version: '1.0.0',
  description:
    'Merges forks into a session: in a staging fork first, verified there, then applied exactly as verified. Entries of a project go one after the other.',
  input: z.strictObject({
    from: z
      .union([id, z.array(id).min(1).max(MOST_FORKS)])
      .describe('the fork: what its last checkpoint holds; or several, merged in this order'),
    into: id.describe('the session that the work comes into'),
    commitments: commitments().describe('how it is known that all of it together is right'),
  }),
  plan: {
    steps: [
      { id: 'prepare', tool: 'prepare_changeset', arguments: { sessionId: '{% input.into %}' } },
      {
        id: 'open',
        tool: 'open_workspace',
        arguments: {
          sessionId: '{% input.into %}',
          checkpointId: '{% steps.prepare.result.checkpointId %}',
          guidance: 'A staging fork of the merge queue. Work in it is lost.',
        },
      },
      {
        id: 'merge',
        tool: 'apply_changeset',
        arguments: { from: '{% input.from %}', into: '{% steps.open.result.sessionId %}' },
      },
      {
        id: 'verify',
        tool: 'verify_commitments',
        arguments: {
          sessionId: '{% steps.open.result.sessionId %}',
          checkpointId: '{% steps.merge.result.checkpointId %}',
          commitments: '{% input.commitments %}',
        },
      },
      {
        id: 'dismiss',
        tool: 'dismiss_workspace',
        arguments: { sessionId: '{% steps.open.result.sessionId %}' },
      },
      {
        id: 'apply',
        tool: 'apply_changeset',
        arguments: {
          from: '{% steps.open.result.sessionId %}',
          into: '{% input.into %}',
          checkpointId: '{% steps.verify.result.checkpointId %}',
          expectUnchanged: true,
        },
      },
    ],
    output: {
      status: '{% steps.apply.result.status %}',
      checkpointId: '{% steps.apply.result.checkpointId %}',
      undoCheckpointId: '{% steps.apply.result.undoCheckpointId %}',
      files: '{% steps.apply.result.files %}',
      stagingSessionId: '{% steps.open.result.sessionId %}',
    },
  },
});
