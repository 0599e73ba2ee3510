import type { Command } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { freshId, parseId, parseWholeNumber } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { placeOf } from '../sandboxes.ts';
import { resolveSession } from '../session.ts';
import { forkedSession } from '../view/merge-view.ts';

interface Options {
  session?: string;
  to?: string;
  request?: string;
  template?: string;
  timeout?: number;
  guidance?: string;
}

const EXAMPLES = `
Examples:
  walkback fork                             a session of its own at where this one stands
  walkback fork --to msg-2                  at the end of message msg-2
  walkback merge FORK                       brings its work back
  walkback session end FORK --discard       ends it, and kills its sandbox`;

/** On this machine a sandbox costs nothing but disk. */
const LONGEST_MS = 86_400_000;

export const defineFork = (fork: Command, app: App): void => {
  fork
    .description(
      'Begin a session of its own at a checkpoint of another, in a fresh sandbox. Work there changes nothing here ' +
        'until it is merged.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--to <point>', 'message id or checkpoint id (default: where the session stands)')
    .option('--guidance <text>', "what it is for: the first lines of its agent's prompt")
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .option('--template <name>', "sandbox template (default: the session's)")
    .option(
      '--timeout <seconds>',
      'how long the sandbox lives (default: 1 h, locally 24 h)',
      parseWholeNumber(10, 86_400),
    )
    .addHelpText('after', EXAMPLES)
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const target = options.to === undefined ? {} : await resolveTarget(run.invoke, sessionId, options.to);
        const { timeout, template, guidance } = options;
        const localMs = run.sandboxes === undefined ? undefined : LONGEST_MS;
        const timeoutMs = timeout === undefined ? localMs : timeout * 1000;
        const answer = await run.progress(`Forking ${sessionId}`, () =>
          run.invoke('walkback-fork-session', {
            ...target,
            sessionId,
            requestId: options.request ?? freshId('fork'),
            ...(template === undefined ? {} : { template }),
            ...(guidance === undefined ? {} : { guidance }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          }),
        );
        const places = await run.sandboxes?.places(answer.sandboxId);
        const directory = places && placeOf(places, answer.projectsRoot);
        return {
          value: { ...answer, ...(directory === undefined ? {} : { directory }) },
          text: () => forkedSession(answer, { directory, paint: run.paint }),
        };
      }),
    );
};
