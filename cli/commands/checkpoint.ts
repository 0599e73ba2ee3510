import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { CheckpointAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { resolveSession } from '../session.ts';
import { helpText } from '../terminal/help-text.ts';
import { takenCheckpoint } from '../view/checkpoint-view.ts';
import { withProgress } from '../with-progress.ts';

interface Options {
  title?: string;
  text?: string;
  session?: string;
  message?: string;
  for?: string;
  tool?: string;
  reason: string;
  epoch?: number;
}

const said = ({ title, text }: Options) =>
  title === undefined && text === undefined
    ? {}
    : {
        message: {
          role: 'user',
          ...(title === undefined ? {} : { title }),
          ...(text === undefined ? {} : { text }),
        },
      };

const incomplete = ({ checkpointId, failures }: CheckpointAnswer): CliError =>
  new CliError(
    'CheckpointIncomplete',
    `Checkpoint ${checkpointId} was taken, but it lacks ${failures.length === 0 ? 'a repository' : plural(failures.length, 'path')}.`,
  );

const NO_MESSAGE = 'Give --message, whose work is there, or --for, whose tool call comes next.';

const EXAMPLES = `
Examples:
  walkback checkpoint --message msg-3
  walkback checkpoint -s refund --for msg-4 --tool call-17 --reason before-tool

With --for, what the next checkpoint finds is the work of that message. What is there now is the work of the message before.

The same --tool again answers the same checkpoint: nothing is done twice.`;

export const defineCheckpoint = (checkpoint: Command, app: App): void => {
  checkpoint
    .description(
      'Capture all repositories of a session. Take it before the next state-changing operation; it belongs ' +
        'to the last message whose work it contains.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .option('-m, --message <id>', 'message whose work was done since the checkpoint before', parseId)
    .option('--for <id>', 'message of the tool call that comes next', parseId)
    .option('--tool <id>', 'execution id of the tool call that comes next (default: a fresh one)', parseId)
    .option('--title <text>', 'what the message is about, to be read later; redact it')
    .option('--text <text>', 'what the message says, to be read later; redact it')
    .option('--reason <text>', 'why it is taken', 'manual')
    .option('--epoch <n>', 'refuse if the session was rolled back since this epoch', parseWholeNumber(1, 1e9))
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        if ((options.message ?? options.for) === undefined) throw new CliError('InvalidInput', NO_MESSAGE);
        const sessionId = await resolveSession(run, options.session);
        const answer = await withProgress(run, sessionId, `Capturing ${sessionId}`, () =>
          run.invoke('walkback-checkpoint', {
            sessionId,
            ...(options.message === undefined ? {} : { messageId: options.message }),
            ...(options.for === undefined ? {} : { forMessageId: options.for }),
            toolExecutionId: options.tool ?? freshId('cli'),
            reason: options.reason,
            ...(options.epoch === undefined ? {} : { epoch: options.epoch }),
            ...said(options),
          }),
        );
        return {
          value: answer,
          text: () => takenCheckpoint(answer, run.paint),
          failure: answer.complete ? undefined : incomplete(answer),
        };
      }),
    );
};
