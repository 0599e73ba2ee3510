import type { Command } from 'commander';
import { Option } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { epochOption } from '../decided.ts';
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
import { rehydratedSession } from '../view/rehydrate-view.ts';
import { withProgress } from '../with-progress.ts';

interface Options extends FreshSandboxOptions {
  session?: string;
  to?: string;
  mode: 'review' | 'resume';
  epoch?: number;
}

const EXAMPLES = `
Examples:
  walkback rehydrate                          a review copy of where the session stands
  walkback rehydrate --to msg-2               a review copy of message msg-2
  walkback rehydrate --mode resume            the session goes on in the new sandbox`;

export const defineRehydrate = (rehydrate: Command, app: App): void => {
  withFreshSandbox(rehydrate)
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
    .addOption(epochOption('with --mode resume: '))
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const target = options.to === undefined ? {} : await resolveTarget(run.invoke, sessionId, options.to);
        const sandbox = freshSandboxInput(run, options);
        const requestId = options.request ?? freshId('rehydrate');
        run.underway(underwayAs(requestId));
        const answer = await withProgress(run, sessionId, `Rehydrating ${sessionId}`, () =>
          run.invoke('walkback-rehydrate', {
            ...target,
            sessionId,
            mode: options.mode,
            requestId,
            ...(options.epoch === undefined ? {} : { epoch: options.epoch }),
            ...sandbox,
          }),
        );
        const directory = await directoryOf(run, answer.sandboxId, answer.projectsRoot);
        return {
          value: { ...answer, ...(directory === undefined ? {} : { directory }) },
          text: () =>
            rehydratedSession(answer, {
              lifetimeMs: sandbox.timeoutMs,
              sessionId,
              mode: options.mode,
              directory,
              where: run.options,
              paint: run.paint,
            }),
        };
      }),
    );
};
