import { type Command, Option } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { type DeadlineOptions, deadlinesOf, withDeadlines } from '../deadline-options.ts';
import { parkFailure, stepFailure } from '../ending.ts';
import { underwayAs } from '../interruption.ts';
import { readJson } from '../json-option.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { type SessionOptions, sessionInputOf, withSession } from '../session-options.ts';
import { helpText } from '../terminal/help-text.ts';
import { readArguments, toolOf } from '../tool-option.ts';
import { statusWord } from '../view/saga-views.ts';
import { parkedText, stepText } from '../view/step-view.ts';
import { noteWarnings } from '../warnings.ts';

interface Submitted extends SessionOptions, DeadlineOptions {
  tool: string;
  arguments: string;
  wait: number;
}

interface Parked {
  summary: string;
  session?: string;
  message?: string;
  /** False with `--no-checkpoint`. */
  checkpoint?: string | boolean;
  request?: string;
}

const EXAMPLES = `
Examples:
  walkback saga submit trip-1 room --tool book_room --arguments '{"nights":2}'`;

export const addSagaSubmit = (parent: Command, app: App): void => {
  const submit = parent
    .command('submit')
    .argument('<saga>', 'saga id', parseId)
    .argument('<step>', 'id of the step; the same again is the same step', parseId)
    .description('submit a step of an interactive saga, and show what became of it')
    .addHelpText('after', helpText(EXAMPLES))
    .requiredOption('-t, --tool <tool>', 'tool of the catalog, NAME or NAME@VERSION')
    .option('-a, --arguments <json>', 'arguments of the tool: JSON or @FILE', '{}');
  withDeadlines(withSession(submit, 'session that submits it'))
    .option('--wait <seconds>', 'wait this long at most', parseWholeNumber(0, 600), 60)
    .action((sagaId: string, stepId: string, options: Submitted, command: Command) =>
      withConnection(app, command, async (run) => {
        const answer = await run.progress('Calling the tool', async () =>
          run.invoke('walkback-submit-step', {
            sagaId,
            stepId,
            ...toolOf(options.tool),
            arguments: await readArguments(options.arguments),
            ...deadlinesOf(options),
            waitSeconds: options.wait,
            observe: false,
            ...sessionInputOf(options),
          }),
        );
        noteWarnings(run, answer);
        const text = () => stepText(answer.step, run.paint, run.width);
        return { value: answer, text, failure: stepFailure(answer.step, sagaId) };
      }),
    );
};

export const addSagaPark = (parent: Command, app: App): void => {
  parent
    .command('park')
    .argument('[saga]', 'saga id; without it, all interactive sagas that --session works on', parseId)
    .description('put an interactive saga aside, with a checkpoint of its session; what it did stands')
    .requiredOption('--summary <text>', 'for whoever goes on: what is done, and what is left')
    .option('-s, --session <id>', 'session that stops; a step of another one resumes the saga', parseId)
    .option('-m, --message <id>', 'message of the checkpoint (default: that of the last one)', parseId)
    .option('--checkpoint <id>', 'where the files are; no other checkpoint is taken then')
    .option('--no-checkpoint', 'take no checkpoint')
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .action((sagaId: string | undefined, options: Parked, command: Command) =>
      withConnection(app, command, async (run) => {
        const { summary, session, message, checkpoint, request } = options;
        const requestId = request ?? freshId('park');
        run.underway(underwayAs(requestId));
        const answer = await run.progress('Parking', () =>
          run.invoke('walkback-park-saga', {
            summary,
            requestId,
            ...(sagaId === undefined ? {} : { sagaId }),
            ...(session === undefined ? {} : { sessionId: session }),
            ...(message === undefined ? {} : { messageId: message }),
            ...(typeof checkpoint === 'string' ? { checkpointId: checkpoint } : {}),
            ...(checkpoint === false ? { checkpoint: false } : {}),
          }),
        );
        noteWarnings(run, answer);
        return { value: answer, text: () => parkedText(answer, run.paint), failure: parkFailure(answer) };
      }),
    );
};

export const addSagaClose = (parent: Command, app: App): void => {
  parent
    .command('close')
    .argument('<saga>', 'saga id', parseId)
    .description('end an interactive saga; all of it stands, or all of it is taken back')
    .addOption(
      new Option('--outcome <outcome>', 'what becomes of its steps')
        .choices(['complete', 'unwind'])
        .default('complete'),
    )
    .option('--reason <text>', 'goes into the ledger')
    .option('--result <json>', 'with complete: what the saga answers to the plan that it is a step of')
    .action(
      (
        sagaId: string,
        { outcome, reason, result }: { outcome: 'complete' | 'unwind'; reason?: string; result?: string },
        command: Command,
      ) =>
        withConnection(app, command, async (run) => {
          const answer = await run.progress('Closing the saga', async () =>
            run.invoke('walkback-close-saga', {
              sagaId,
              outcome,
              ...(reason === undefined ? {} : { reason }),
              ...(result === undefined ? {} : { result: await readJson(result, '--result') }),
            }),
          );
          noteWarnings(run, answer);
          return {
            value: answer,
            text: () => `Saga ${run.paint.bold(sagaId)}  ${statusWord(answer.status, run.paint)}\n`,
          };
        }),
    );
};
