import type { Command } from 'commander';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type { RequestOf } from '../../contract/invoke.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { changesText } from '../view/changes-view.ts';

interface Options {
  session?: string;
  repository?: string;
  stat?: boolean;
}

const EXAMPLES = `
Examples:
  walkback changes                   what the newest checkpoint changed
  walkback changes msg-2             what each checkpoint of message msg-2 changed
  walkback changes cp-7 --stat       files and numbers only
  walkback changes cp-7 --repository api`;

/** Reads all pages. */
const readChanges = async (run: Pick<Run, 'invoke'>, input: RequestOf<'changes'>): Promise<ChangesAnswer> => {
  const checkpoints: ChangesAnswer['checkpoints'] = [];
  let cursor: string | undefined;
  do {
    const page = await run.invoke('walkback-changes', {
      ...input,
      ...(cursor === undefined ? {} : { cursor }),
    });
    checkpoints.push(...page.checkpoints);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return { sessionId: input.sessionId, checkpoints };
};

export const defineChanges = (changes: Command, app: App): void => {
  changes
    .description(
      'Show what a checkpoint, or each checkpoint of a message, changed: what was said, the tool call, files with ' +
        'their numbers, branches and commits, and the patch. It was kept with the checkpoint: no sandbox is needed.',
    )
    .argument('[point]', 'a message id, a checkpoint id (cp-7 will do), or head', 'head')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('--repository <path>', 'only this repository')
    .option('--stat', 'files and numbers only')
    .addHelpText('after', helpText(EXAMPLES))
    .action((point: string, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const sessionId = await resolveSession(run, options.session);
        const answer = await run.progress('Reading what changed', async () =>
          readChanges(run, {
            sessionId,
            ...(await resolveTarget(run.invoke, sessionId, point)),
            ...(options.repository === undefined ? {} : { path: options.repository }),
          }),
        );
        return {
          value: answer,
          text: () => changesText(answer, run.paint, options.stat === true),
          isLong: true,
        };
      }),
    );
};
