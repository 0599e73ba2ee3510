import type { Command } from 'commander';
import type { OperateSagaInput } from '../../contract/saga-inputs.ts';
import type { App } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { helpText } from '../terminal/help-text.ts';
import { statusWord } from '../view/saga-views.ts';
import { noteWarnings } from '../warnings.ts';

interface Options {
  by?: string;
  evidence?: string;
  reason?: string;
  epoch?: number;
}

const act = (
  app: App,
  command: Command,
  request: Omit<OperateSagaInput, 'by'>,
  by: string | undefined,
): Promise<void> =>
  withConnection(app, command, async (run) => {
    const answer = await run.progress('Telling the saga', () =>
      run.invoke('walkback-operate-saga', { ...request, by: operatorOf(run, by) }),
    );
    noteWarnings(run, answer);
    return {
      value: answer,
      text: () => `Saga ${run.paint.bold(request.sagaId)}  ${statusWord(answer.status, run.paint)}\n`,
    };
  });

/** One thing a person can do to a saga. */
const operation = (parent: Command, name: string, description: string): Command =>
  parent
    .command(name)
    .argument('<saga>', 'saga id', parseId)
    .description(description)
    .option('--by <who>', 'who acts (default: you)');

/** One thing a person can do to what a step did. */
const stepOperation = (parent: Command, name: string, description: string, which: string): Command =>
  operation(parent, name, description)
    .argument('<step>', which)
    .option(
      '--epoch <n>',
      'for a saga that was rewound: only what the step did in this epoch, 0 before the first rewind',
      parseWholeNumber(0, Number.MAX_SAFE_INTEGER),
    );

const epochOf = ({ epoch }: Options) => (epoch === undefined ? {} : { epoch });

const RESOLVE_EXAMPLE = `
Examples:
  walkback saga resolve s-1 pay --evidence "Paid back by hand, journal 4711"`;

const SKIP_EXAMPLE = `
Examples:
  walkback saga skip s-1 mail --reason "The customer was told by phone"`;

export const addSagaOperations = (parent: Command, app: App): void => {
  operation(parent, 'cancel', 'stop a saga; what is in flight is settled, then everything is undone')
    .option('--reason <text>', 'goes into the ledger')
    .action((sagaId: string, { by, reason }: Options, command: Command) =>
      act(
        app,
        command,
        { sagaId, action: 'cancel', ...(reason === undefined ? {} : { evidence: reason }) },
        by,
      ),
    );
  operation(
    parent,
    'resume',
    'go on with a saga that was put aside: it waits for its next step again',
  ).action((sagaId: string, { by }: Options, command: Command) =>
    act(app, command, { sagaId, action: 'resume' }, by),
  );
  stepOperation(
    parent,
    'resolve',
    'record that a step was undone by hand, also one that was let stand',
    'the step that was undone by hand',
  )
    .requiredOption('--evidence <text>', 'what was done and where it can be seen')
    .addHelpText('after', helpText(RESOLVE_EXAMPLE))
    .action((sagaId: string, stepId: string, options: Options, command: Command) => {
      const { by, evidence = '' } = options;
      return act(app, command, { sagaId, action: 'resolve', stepId, evidence, ...epochOf(options) }, by);
    });
  stepOperation(parent, 'skip', 'leave the effect of a step standing', 'the step that stays as it is')
    .requiredOption('--reason <text>', 'why it stays')
    .addHelpText('after', helpText(SKIP_EXAMPLE))
    .action((sagaId: string, stepId: string, options: Options, command: Command) => {
      const { by, reason = '' } = options;
      return act(app, command, { sagaId, action: 'skip', stepId, evidence: reason, ...epochOf(options) }, by);
    });
};
