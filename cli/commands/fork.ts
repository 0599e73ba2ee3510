import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import {
  directoryOf,
  type FreshSandboxOptions,
  freshSandboxInput,
  withFreshSandbox,
} from '../fresh-sandbox.ts';
import { underwayAs } from '../interruption.ts';
import { parseId } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { forkedSession } from '../view/merge-view.ts';
import { withProgress } from '../with-progress.ts';

interface Options extends FreshSandboxOptions {
  session?: string;
  to?: string;
  guidance?: string;
  project?: string;
}

const EXAMPLES = `
Examples:
  walkback fork                             a new session at the point where this one stands
  walkback fork --to msg-2                  at the end of message msg-2
  walkback merge FORK                       brings its work back
  walkback session end FORK --discard       ends it, and kills its sandbox`;

export const defineFork = (fork: Command, app: App): void => {
  withFreshSandbox(fork)
    .description(
      'Begin a session of its own at a checkpoint of another, in a fresh sandbox. Work there changes nothing here ' +
        'until it is merged.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--to <point>', 'message id or checkpoint id (default: where the session stands)')
    .option('--guidance <text>', "what it is for: the first lines of its agent's prompt")
    .option('--project <name>', 'project of its sagas (default: that of its source)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const target = options.to === undefined ? {} : await resolveTarget(run.invoke, sessionId, options.to);
        const { guidance, project } = options;
        const requestId = options.request ?? freshId('fork');
        run.underway(underwayAs(requestId));
        const answer = await withProgress(run, sessionId, `Forking ${sessionId}`, () =>
          run.invoke('walkback-fork-session', {
            ...target,
            sessionId,
            requestId,
            ...(guidance === undefined ? {} : { guidance }),
            ...(project === undefined ? {} : { project }),
            ...freshSandboxInput(run, options),
          }),
        );
        const directory = await directoryOf(run, answer.sandboxId, answer.projectsRoot);
        return {
          value: { ...answer, ...(directory === undefined ? {} : { directory }) },
          text: () => forkedSession(answer, { directory, where: run.options, paint: run.paint }),
        };
      }),
    );
};
