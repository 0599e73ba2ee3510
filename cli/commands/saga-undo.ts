import type { Command } from 'commander';
import type { OperateSagaInput } from '../../contract/saga-inputs.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { acceptedIn, residueLine, residueOption } from '../decided.ts';
import { CliError } from '../failure.ts';
import { parseId } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { sagaQuestion } from '../saga-question.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { statusWord } from '../view/saga-views.ts';
import { undoPlanLines } from '../view/undo-plan-view.ts';
import { noteWarnings } from '../warnings.ts';

interface Options {
  by?: string;
  reason?: string;
  dryRun?: boolean;
  acceptResidue?: boolean;
  residue?: string;
  yes?: boolean;
}

const EMPTY = { undo: [], stands: [] };

const act = async (run: Run, sagaId: string, options: Options): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const input: OperateSagaInput = {
    sagaId,
    action: 'undo',
    by: operatorOf(run, options.by),
    ...(options.reason === undefined ? {} : { evidence: options.reason }),
    ...acceptedIn(options),
  };
  if (options.dryRun === true || options.yes !== true) {
    const planned = await run.progress('Planning the undo', () =>
      run.invoke('walkback-operate-saga', { ...input, dryRun: true }),
    );
    const { plan = EMPTY, residue } = planned;
    const lines = undoPlanLines(plan, run.paint);
    const text = `${[`${run.paint.bold('Plan')}: undo saga ${sagaId}`, ...lines].join('\n')}\n`;
    if (options.dryRun === true) {
      const line = residueLine(residue, plan.stands.length, run.paint);
      return { value: planned, text: () => text + line };
    }
    run.note(text);
    if (!(await confirm(run.terminal, () => sagaQuestion(run, 'Undo', sagaId)))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
    // What is confirmed is the plan that was shown.
    if (residue !== undefined && input.acceptResidue === true) input.residue ??= residue;
  }
  const answer = await run.progress('Telling the saga', () => run.invoke('walkback-operate-saga', input));
  noteWarnings(run, answer);
  return {
    value: answer,
    text: () => `Saga ${run.paint.bold(sagaId)}  ${statusWord(answer.status, run.paint)}\n`,
  };
};

const EXAMPLES = `
Examples:
  walkback saga undo s-1 --dry-run                 what is taken back, and what nothing takes back
  walkback saga undo s-1 --reason "wrong order"    shows that, asks, does it
  walkback saga watch s-1                          waits until it is done`;

export const addSagaUndo = (parent: Command, app: App): void => {
  parent
    .command('undo')
    .argument('<saga>', 'saga id', parseId)
    .description('take back a saga that is completed')
    .option('--reason <text>', 'goes into the ledger; --accept-residue needs it')
    .option('--accept-residue', 'leave standing what nothing takes back')
    .addOption(residueOption())
    .option('--dry-run', 'show the plan only')
    .option('-y, --yes', 'do not ask')
    .option('--by <who>', 'who acts (default: you)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((sagaId: string, options: Options, command: Command) =>
      withConnection(app, command, (run) => act(run, sagaId, options)),
    );
};
