/** Describes to an agent the repositories it works in, read from its live sandbox. Reads only. */
import type { ContextAnswer } from '../../../contract/checkpoint-answers.ts';
import type { SessionInput } from '../../../contract/checkpoint-inputs.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { chooseDetailed, contextPrompt } from './context-prompt.ts';
import { requireSession, withSandboxAdvice } from './session-rules.ts';

const MAX_ENTRIES = 80;

export const createContext =
  (deps: { store: SessionStore; sandboxes: Sandboxes; repositories: Repositories; clock: Clock }) =>
  async (input: SessionInput, invocation: Invocation): Promise<ContextAnswer> => {
    const { store, sandboxes, repositories, clock } = deps;
    const session = await requireSession(store, input.sessionId);
    const { projectsRoot } = session;
    return withSandboxAdvice(
      session,
      async () => {
        const sandbox = await sandboxes.open(session.sandboxId);
        const survey = await repositories.survey(sandbox, {
          projectsRoot,
          maxDepth: DEFAULTS.maxDepth,
          detail: true,
          timeoutMs: commandTimeout(invocation, clock),
        });
        const paths = chooseDetailed(survey.repositories).map(({ path }) => path);
        const directories =
          paths.length === 0
            ? []
            : await repositories.directories(sandbox, {
                projectsRoot,
                paths,
                maxEntries: MAX_ENTRIES,
                timeoutMs: commandTimeout(invocation, clock),
              });
        return {
          prompt: contextPrompt(projectsRoot, survey, directories),
          repositories: survey.repositories,
          directories,
        };
      },
      session.sandboxId,
      'context',
    );
  };
