import { type Command, Option } from 'commander';
import { freshId } from '../../client/ids.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { underwayAs } from '../interruption.ts';
import { readJson } from '../json-option.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { type SessionOptions, sessionInputOf, withSession } from '../session-options.ts';
import { helpText } from '../terminal/help-text.ts';
import { statusWord } from '../view/saga-views.ts';
import { noteWarnings } from '../warnings.ts';
import { withWhere } from '../where-words.ts';

interface Options extends SessionOptions {
  plan?: string;
  interactive?: boolean;
  inline?: boolean;
  idle?: number;
  onIdle?: 'unwind' | 'ask';
  allow?: string[];
  input?: string;
  id?: string;
  by?: string;
  project?: string;
  maxConcurrent?: number;
}

const definitionOf = (text: string): { name: string; version?: string } => {
  const [name = '', version] = text.split('@');
  return version === undefined ? { name } : { name, version };
};

/** What is to run: a template, a plan, or steps that are submitted one by one. */
const planOf = async (template: string | undefined, options: Options) => {
  const { plan, interactive = false, idle, onIdle, allow } = options;
  const given = [
    ...(template === undefined ? [] : [`the template ${template}`]),
    ...(plan === undefined ? [] : ['--plan']),
    ...(interactive ? ['--interactive'] : []),
  ];
  if (given.length === 0) throw new CliError('InvalidInput', 'Give a template, --plan or --interactive.');
  if (given.length > 1) {
    throw new CliError('InvalidInput', `${given.join(' and ')} do not go together.`, {
      hint: 'give one of them; a name for a saga is --id',
    });
  }
  const [misplaced] = Object.entries({ '--idle': idle, '--on-idle': onIdle, '--allow': allow }).filter(
    ([, value]) => value !== undefined,
  );
  if (!interactive && misplaced !== undefined) {
    throw new CliError('InvalidInput', `${misplaced[0]} belongs to --interactive.`, {
      hint: 'leave it out: a plan says itself which of its steps wait for an approval',
    });
  }
  if (template !== undefined) return { definition: definitionOf(template) };
  if (plan !== undefined) return { plan: await readJson(plan, '--plan') };
  return {
    interactive: {
      onIdle: onIdle ?? 'unwind',
      ...(idle === undefined ? {} : { idleTimeoutSeconds: idle }),
      ...(allow === undefined ? {} : { allowIrreversible: allow }),
    },
  };
};

/** An interactive saga waits for a step, so watching it ends at once. */
const nextOf = ({ interactive = false }: Options, sagaId: string): string =>
  interactive ? `submit ${sagaId} STEP --tool TOOL` : `watch ${sagaId}`;

const EXAMPLES = `
Examples:
  walkback saga start refund --id refund-1 --input '{"orderId":"o-1"}'
  walkback saga start --plan @plan.json --input @input.json
  walkback saga start --interactive --id trip-1

The same --id with the same request is the same saga: nothing is done twice.`;

export const addSagaStart = (parent: Command, app: App): void => {
  const start = parent
    .command('start')
    .argument('[template]', 'template of the catalog, NAME or NAME@VERSION')
    .description('start a saga from a template, or from a plan of your own')
    .addHelpText('after', helpText(EXAMPLES))
    .addOption(new Option('--plan <json>', 'a one-off plan instead of a template: JSON or @FILE'))
    .option(
      '--inline',
      'a short plan: call its tools at once; the machine takes over what that does not settle',
    )
    .option('--interactive', 'without a plan: steps are submitted one by one (saga submit)')
    .option(
      '--idle <seconds>',
      'interactive: wait this long for a step',
      parseWholeNumber(60, 30 * DAY_SECONDS),
    )
    .addOption(
      new Option(
        '--on-idle <what>',
        'interactive: then take everything back (the default), or ask people',
      ).choices(['unwind', 'ask']),
    )
    .option('--allow <tool...>', 'interactive: irreversible tools that need no approval')
    .option('-i, --input <json>', "the saga's input: JSON or @FILE", '{}')
    .option('--id <id>', 'saga id; the same start again starts no second saga', parseId);
  withSession(start, 'session the saga belongs to')
    .option('--project <name>', 'project: its sagas take turns on exclusive resources')
    .option(
      '--max-concurrent <count>',
      'sagas of the project that run at once; more are queued',
      parseWholeNumber(1, 1000),
    )
    .option('--by <who>', 'who asks (default: you)')
    .action((template: string | undefined, options: Options, command: Command) =>
      withConnection(app, command, async (run) => {
        const what = await planOf(template, options);
        const input = await readJson(options.input ?? '{}', '--input');
        const requestedBy = operatorOf(run, options.by);
        const sagaId = options.id ?? freshId('saga');
        run.underway(underwayAs(sagaId, 'id'));
        const answer = await run.progress('Starting the saga', () =>
          run.invoke('walkback-start-saga', {
            ...what,
            sagaId,
            input,
            requestedBy,
            ...(options.inline === true ? { drive: 'inline' as const } : {}),
            ...sessionInputOf(options),
            ...(options.project === undefined ? {} : { project: options.project }),
            ...(options.maxConcurrent === undefined ? {} : { maxConcurrent: options.maxConcurrent }),
          }),
        );
        const { paint } = run;
        noteWarnings(run, answer);
        run.note(paint.dim(withWhere(`next  walkback saga ${nextOf(options, answer.sagaId)}`, run.options)));
        return {
          value: answer,
          text: () => `Saga ${paint.bold(answer.sagaId)}  ${statusWord(answer.status, paint)}\n`,
        };
      }),
    );
};
