import * as z from 'zod';
import { absolutePath, id, template } from '../../contract/fields.ts';
import { defineTemplate } from './define-template.ts';

/** A workspace that an agent can begin in at once. */
export const spawnAgent = defineTemplate({
  name: 'spawn-agent',
  version: '1.0.0',
  description:
    'Looks whether a template has what an agent needs, opens a workspace of it, and initialises it.',
  input: z.strictObject({
    sessionId: id.describe('the session that is forked'),
    template: template.describe('of the sandbox'),
    projectsRoot: absolutePath.describe('of the session'),
    needs: z.array(z.string()).max(50).describe('commands that the agent needs; may be empty'),
    guidance: z.string().min(1).max(4096).describe('what the workspace is for'),
    command: z.string().min(1).max(8192).describe('initialises it, as `npm ci`; `true` does nothing'),
  }),
  plan: {
    steps: [
      {
        id: 'preflight',
        tool: 'preflight',
        arguments: {
          template: '{% input.template %}',
          projectsRoot: '{% input.projectsRoot %}',
          needs: '{% input.needs %}',
        },
      },
      {
        id: 'open',
        tool: 'open_workspace',
        arguments: {
          sessionId: '{% input.sessionId %}',
          template: '{% input.template %}',
          guidance: '{% input.guidance %}',
        },
      },
      {
        id: 'initialise',
        tool: 'run_in_workspace',
        arguments: {
          sessionId: '{% steps.open.result.sessionId %}',
          command: '{% input.command %}',
          timeoutSeconds: 480,
        },
      },
    ],
    output: {
      sessionId: '{% steps.open.result.sessionId %}',
      sandboxId: '{% steps.open.result.sandboxId %}',
      checkpointId: '{% steps.initialise.result.after %}',
      projectsRoot: '{% steps.open.result.projectsRoot %}',
      prompt: '{% steps.open.result.prompt %}',
    },
  },
});
