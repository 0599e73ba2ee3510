import type { Command } from 'commander';
import { type DiffCalls, diffAnywhere } from '../../client/diff-copy.ts';
import { freshId } from '../../client/ids.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';
import { resolveDiffSide } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { diffText } from '../view/diff-view.ts';

interface Options {
  session?: string;
  sandbox?: string;
  repository?: string;
  stat?: boolean;
}

const EXAMPLES = `
Examples:
  walkback diff                    what changed since the last checkpoint
  walkback diff msg-2              what changed since message msg-2
  walkback diff cp-3 cp-7 --stat   how much changed between two checkpoints
  walkback diff msg-2 msg-3 --repository api`;

const callsOf = ({ invoke }: Pick<Run, 'invoke'>): DiffCalls => ({
  diff: (request) => invoke('walkback-diff', request),
  rehydrate: (request) => invoke('walkback-rehydrate', request),
  rollback: (request) => invoke('walkback-rollback', request),
  freshId,
});

export const defineDiff = (diff: Command, app: App): void => {
  diff
    .description(
      'Compare two points of the timeline, across all repositories. A point is a message id, a checkpoint id ' +
        '(cp-7 will do), head, or now. Where the sandbox does not hold both, they are compared in a review copy.',
    )
    .argument('[a]', 'from', 'head')
    .argument('[b]', 'to', 'now')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--sandbox <id>', "a review copy's sandbox (default: the session's)", parseId)
    .option('--repository <path>', 'only this repository')
    .option('--stat', 'numbers only')
    .addHelpText('after', helpText(EXAMPLES))
    .action((a: string, b: string, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const answer = await run.progress('Comparing', async () =>
          diffAnywhere(callsOf(run), {
            sessionId,
            from: await resolveDiffSide(run.invoke, sessionId, a),
            to: await resolveDiffSide(run.invoke, sessionId, b),
            ...(options.sandbox === undefined ? {} : { sandboxId: options.sandbox }),
            ...(options.repository === undefined ? {} : { path: options.repository }),
            ...(options.stat === true ? { stat: true } : {}),
          }),
        );
        return {
          value: answer,
          text: () => diffText(answer, run.paint, options.stat === true),
          isLong: true,
        };
      }),
    );
};
