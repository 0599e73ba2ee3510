import * as z from 'zod';
import { id } from '../../contract/fields.ts';
import { commitments } from '../../contract/workspace-inputs.ts';
import { defineTemplate } from './define-template.ts';

/**
 * One message of a conversation. The model is the caller's: its loop takes the step `ask`, submits what the model wants done, and
 * closes it with what the model said. So no credential of a model comes near a plan.
 */
export const message = defineTemplate({
  name: 'message',
  version: '1.0.0',
  description:
    'One message: a checkpoint before it, the turn of the model, its answer kept with a checkpoint, and a look whether it did what it was to do.',
  input: z.strictObject({
    sessionId: id,
    messageId: id.describe('of the question; its answer has the same with ".answer"'),
    text: z.string().min(1).max(16_384).describe('what is asked'),
    commitments: commitments().describe('what decides that the message is done'),
  }),
  plan: {
    steps: [
      { id: 'prepare', tool: 'begin_work', arguments: { sessionId: '{% input.sessionId %}' } },
      {
        id: 'question',
        tool: 'checkpoint_workspace',
        arguments: {
          sessionId: '{% input.sessionId %}',
          messageId: '{% input.messageId %}',
          message: { role: 'user', text: '{% input.text %}' },
        },
      },
      { id: 'ask', interactive: { onIdle: 'unwind' }, input: '{% input %}' },
      {
        id: 'persist',
        tool: 'checkpoint_workspace',
        arguments: {
          sessionId: '{% input.sessionId %}',
          messageId: "{% input.messageId & '.answer' %}",
          message: { role: 'assistant', text: '{% steps.ask.result.text %}' },
        },
      },
      {
        id: 'check',
        tool: 'verify_commitments',
        arguments: {
          sessionId: '{% input.sessionId %}',
          checkpointId: '{% steps.persist.result.checkpointId %}',
          commitments: '{% input.commitments %}',
        },
      },
    ],
    output: {
      text: '{% steps.ask.result.text %}',
      checkpointId: '{% steps.persist.result.checkpointId %}',
    },
  },
});
