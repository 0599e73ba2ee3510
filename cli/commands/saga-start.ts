import { type Command, Option } from 'commander';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { readJson } from '../json-option.ts';
import { parseId } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { statusWord } from '../view/saga-views.ts';

interface Options {
  plan?: string;
  input?: string;
  id?: string;
  session?: string;
  message?: string;
  by?: string;
}

const definitionOf = (text: string): { name: string; version?: string } => {
  const [name = '', version] = text.split('@');
  return version === undefined ? { name } : { name, version };
};

export const addSagaStart = (parent: Command, app: App): void => {
  parent
    .command('start')
    .argument('[template]', 'template of the catalog, NAME or NAME@VERSION')
    .description('start a saga from a template, or from a plan of your own')
    .addOption(new Option('--plan <json>', 'a one-off plan instead of a template: JSON or @FILE'))
    .option('-i, --input <json>', "the saga's input: JSON or @FILE", '{}')
    .option('--id <id>', 'saga id; starting the same again is no second saga', parseId)
    .option('-s, --session <id>', 'session the saga belongs to', parseId)
    .option('-m, --message <id>', 'message of the session whose work it is', parseId)
    .option('--by <who>', 'who asks (default: you)')
    .action((template: string | undefined, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        if ((template === undefined) === (options.plan === undefined)) {
          throw new CliError('InvalidInput', 'Give a template or --plan.');
        }
        const what =
          template === undefined
            ? { plan: await readJson(options.plan ?? '', '--plan') }
            : { definition: definitionOf(template) };
        const answer = await run.progress('Starting the saga', async () =>
          run.invoke('walkback-start-saga', {
            ...what,
            input: await readJson(options.input ?? '{}', '--input'),
            requestedBy: operatorOf(run.terminal, options.by),
            ...(options.id === undefined ? {} : { sagaId: options.id }),
            ...(options.session === undefined ? {} : { sessionId: options.session }),
            ...(options.message === undefined ? {} : { messageId: options.message }),
          }),
        );
        const { paint } = run;
        for (const warning of answer.warnings) run.note(paint.yellow(`! ${warning}`));
        run.note(paint.dim(`next  walkback saga watch ${answer.sagaId}`));
        return {
          value: answer,
          text: () => `Saga ${paint.bold(answer.sagaId)}  ${statusWord(answer.status, paint)}\n`,
        };
      }),
    );
};
