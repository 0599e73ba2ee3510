import type { Command } from 'commander';
import { Option } from 'commander';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { freshId, parseId, parseWholeNumber } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { placeOf } from '../sandboxes.ts';
import { resolveSession } from '../session.ts';
import { rehydratedSession } from '../view/rehydrate-view.ts';

interface Options {
  session?: string;
  to?: string;
  mode: 'review' | 'resume';
  request?: string;
  template?: string;
  timeout?: number;
}

const EXAMPLES = `
Examples:
  walkback rehydrate                          a review copy of where the session stands
  walkback rehydrate --to msg-2               a review copy of message msg-2
  walkback rehydrate --mode resume            the session goes on in the new sandbox`;

const directoryOf = async (run: Run, sandboxId: string, projectsRoot: string): Promise<string | undefined> =>
  run.sandboxes === undefined ? undefined : placeOf(await run.sandboxes.places(sandboxId), projectsRoot);

/** On this machine a sandbox costs nothing but disk, so it lives as long as one can. */
const LONGEST_MS = 86_400_000;

const lifetimeMs = (run: Run, { timeout }: Options): number | undefined => {
  if (timeout !== undefined) return timeout * 1000;
  return run.sandboxes === undefined ? undefined : LONGEST_MS;
};

export const defineRehydrate = (rehydrate: Command, app: App): void => {
  rehydrate
    .description(
      'Rebuild a session in a fresh sandbox. A review copy can be looked at and rolled back on its own; resume ' +
        "makes the new sandbox the session's own. With the embedded cloud the sandbox is a directory of this " +
        'machine, and its path is printed.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--to <point>', 'message id or checkpoint id (default: where the session stands)')
    .addOption(
      new Option('--mode <mode>', 'what the copy is for').choices(['review', 'resume']).default('review'),
    )
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
        const timeoutMs = lifetimeMs(run, options);
        const answer = await run.progress(`Rehydrating ${sessionId}`, () =>
          run.invoke('walkback-rehydrate', {
            ...target,
            sessionId,
            mode: options.mode,
            requestId: options.request ?? freshId('rehydrate'),
            ...(options.template === undefined ? {} : { template: options.template }),
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          }),
        );
        const directory = await directoryOf(run, answer.sandboxId, answer.projectsRoot);
        return {
          value: { ...answer, ...(directory === undefined ? {} : { directory }) },
          text: () =>
            rehydratedSession(answer, {
              lifetimeMs: timeoutMs,
              sessionId,
              mode: options.mode,
              directory,
              paint: run.paint,
            }),
        };
      }),
    );
};
