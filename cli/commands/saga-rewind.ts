import type { Command } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { SagaRewind } from '../../contract/rewind.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { acceptedIn, reasonOption, residueLine, residueOption } from '../decided.ts';
import { CliError } from '../failure.ts';
import { readJson } from '../json-option.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { rewindFailure, untilRewound } from '../rewinding.ts';
import { operatorOf } from '../saga-operator.ts';
import { sagaQuestion } from '../saga-question.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { plannedRewind, rewindText } from '../view/rewind-view.ts';
import { noteWarnings } from '../warnings.ts';

interface Options {
  to?: string;
  steps?: number;
  guidance?: string;
  plan?: string;
  acceptResidue?: boolean;
  residue?: string;
  reason?: string;
  request?: string;
  timeout: number;
  dryRun?: boolean;
  yes?: boolean;
  by?: string;
}

const targetOf = ({ to, steps }: Options): SagaRewind['to'] => {
  if (to !== undefined && steps === undefined) return { stepId: to };
  if (steps !== undefined && to === undefined) return { steps };
  throw new CliError('InvalidInput', 'Give --to or --steps.', {
    hint: '--to names the last step that stays, --steps says how many are taken back',
  });
};

const inputOf = async (run: Run, sagaId: string, options: Options): Promise<SagaRewind> => ({
  sagaId,
  to: targetOf(options),
  requestId: options.request ?? freshId('rewind'),
  by: operatorOf(run, options.by),
  ...(options.guidance === undefined ? {} : { guidance: options.guidance }),
  ...(options.plan === undefined ? {} : { plan: await readJson(options.plan, '--plan') }),
  ...acceptedIn(options),
  ...(options.reason === undefined ? {} : { reason: options.reason }),
});

const act = async (run: Run, sagaId: string, options: Options): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const input = await inputOf(run, sagaId, options);
  if (options.dryRun === true || options.yes !== true) {
    const planned = await run.progress('Planning the rewind', () =>
      run.invoke('walkback-rewind', { ...input, dryRun: true }),
    );
    const text = plannedRewind(planned, run.paint);
    const { residue, saga } = planned;
    if (options.dryRun === true) {
      const line = residueLine(residue, saga.plan.stands.length, run.paint);
      return { value: planned, text: () => text + line };
    }
    run.note(text);
    if (!(await confirm(run.terminal, () => sagaQuestion(run, 'Rewind', sagaId)))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
    // What is confirmed is the plan that was shown.
    const { epoch, after } = saga;
    if (planned.status === 'PLANNED') input.planned = { epoch, after };
    if (residue !== undefined && input.acceptResidue === true) input.residue ??= residue;
  }
  run.underway({
    message: `Interrupted while rewinding. The rewind may be asked for or not: request ${input.requestId}.`,
    hint: `the same command with --request ${input.requestId} says how far it is`,
  });
  const answer = await run.progress('Rewinding', () =>
    untilRewound(run, options.timeout, (waitSeconds) =>
      run.invoke('walkback-rewind', { ...input, waitSeconds }),
    ),
  );
  noteWarnings(run, answer);
  return {
    value: answer,
    text: () => rewindText(answer, { where: run.options, paint: run.paint, width: run.width }),
    failure: rewindFailure(answer.status, {
      repair: `walkback saga retry ${sagaId}, or resolve or skip each step, goes on with it`,
      again: `the same command with --request ${answer.requestId} says how far it is`,
    }),
  };
};

const EXAMPLES = `
Examples:
  walkback saga rewind s-1 --steps 2 --dry-run       what is taken back, and what nothing takes back
  walkback saga rewind s-1 --to refund --guidance "Ask the customer first."
  walkback saga rewind s-1 --to refund --plan @rest.json   goes on with other steps

The last effects are undone, then the saga goes on. The same --request again says how
far it is. When a compensator fails, saga retry, resolve or skip goes on with the rewind.`;

export const addSagaRewind = (parent: Command, app: App): void => {
  parent
    .command('rewind')
    .argument('<saga>', 'saga id', parseId)
    .description('take back the last steps of a saga, and let it go on from there')
    .option('--to <step>', 'the last step that stays')
    .option('--steps <n>', 'how many of the last steps are taken back', parseWholeNumber(1, 1000))
    .option('--guidance <text>', 'what the saga is told for its next steps')
    .option('--plan <json>', 'other steps to go on with: JSON or @FILE')
    .option('--accept-residue', 'leave standing what nothing takes back')
    .addOption(residueOption())
    .addOption(reasonOption())
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .option('--timeout <seconds>', 'wait this long at most', parseWholeNumber(0, DAY_SECONDS), 600)
    .option('--dry-run', 'show the plan only')
    .option('-y, --yes', 'do not ask')
    .option('--by <who>', 'who acts (default: you)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((sagaId: string, options: Options, command: Command) =>
      withConnection(app, command, (run) => act(run, sagaId, options)),
    );
};
