import { type Command, Option } from 'commander';
import type { RewindAnswer } from '../../contract/rewind.ts';
import { REWIND_SCOPES } from '../../contract/rewind-scopes.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { standsIn } from '../../core/rewind/count-effects.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import {
  checkpointOption,
  epochOption,
  plannedAt,
  reasonOption,
  residueLine,
  residueOption,
} from '../decided.ts';
import { CliError } from '../failure.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { inputOf, type RewindOptions, sameCommand } from '../rewind-request.ts';
import { sagaQuestion } from '../saga-question.ts';
import { repositoriesLocation } from '../session-place.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { plannedRewind, rewindText, whatGoesBack } from '../view/rewind-view.ts';
import { noteWarnings } from '../warnings.ts';
import { withProgress } from '../with-progress.ts';

/** One call of the function waits this long. A longer wait is a series of calls. */
const WAIT_SECONDS = 20;

/** A program must not take an unfinished rewind for done. */
const failureOf = (
  { status }: RewindAnswer,
  sagaId: string | undefined,
  again: string,
): CliError | undefined => {
  switch (status) {
    case 'PLANNED':
    case 'REWOUND':
      return undefined;
    case 'STOPPED':
      return new CliError(
        'CompensationFailed',
        'The rewind stopped, because an effect could not be taken back.',
        {
          hint:
            sagaId === undefined
              ? `walkback saga retry, resolve, skip or undo what is left; then ${again} goes on with it`
              : `walkback saga retry ${sagaId}, or resolve or skip each step, goes on with it`,
        },
      );
    case 'UNDOING':
      return new CliError('RewindUnfinished', 'The rewind goes on; the time to wait for it is over.', {
        hint: `${again} goes on with it`,
      });
    case 'CANCELLED':
      return new CliError('Cancelled', 'The rewind was given up by a cancel, and everything is undone.');
  }
};

const act = async (run: Run, options: RewindOptions): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const input = await inputOf(run, options);
  const { paint, width, options: where } = run;
  const { sagaId, sessionId } = input;
  const look = { sessionId, to: options.to ?? '', paint, width };
  const told = (answer: RewindAnswer): Answer => {
    const again = sameCommand(where, input, options);
    noteWarnings(run, answer);
    return {
      value: answer,
      text: () => rewindText(answer, { ...look, again, where }),
      failure: failureOf(answer, sagaId, again),
    };
  };
  if (options.dryRun === true || options.yes !== true) {
    const plan = await run.progress('Planning the rewind', () =>
      run.invoke('walkback-rewind', { ...input, dryRun: true }),
    );
    // A request that is over answers what it did.
    if (plan.status === 'REWOUND' || plan.status === 'CANCELLED') return told(plan);
    const stands = standsIn(plan);
    const text = plannedRewind(plan, look);
    if (options.dryRun === true)
      return { value: plan, text: () => text + residueLine(plan.residue, stands, paint) };
    run.note(text);
    // Nobody is asked what would be refused anyway.
    if (stands > 0 && input.acceptResidue !== true) {
      throw new CliError(
        'PointOfNoReturn',
        `Nothing takes back ${plural(stands, 'effect')} in the plan. Nothing was changed.`,
      );
    }
    const question = async (): Promise<string> => {
      if (sessionId === undefined) return sagaQuestion(run, 'Rewind', input.sagaId);
      const place = options.scope === 'all' ? await repositoriesLocation(run, sessionId) : '';
      return `Rewind session ${sessionId}: ${whatGoesBack(plan, options.scope, place)}?`;
    };
    if (!(await confirm(run.terminal, question))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
    // What is confirmed is the plan that was shown.
    if (plan.residue !== undefined && input.acceptResidue === true) input.residue ??= plan.residue;
    if (input.sagaId === undefined) {
      if (plan.epoch !== undefined) input.epoch ??= plan.epoch;
      if (plan.checkpointId !== undefined) input.to = plannedAt(input.to, plan.checkpointId);
    } else if (plan.status === 'PLANNED') {
      const [saga] = plan.sagas;
      if (saga !== undefined) input.planned = { epoch: saga.epoch, after: saga.after };
    }
  }
  run.underway({
    message: `Interrupted while rewinding. The rewind may be done, begun or neither: request ${input.requestId}.`,
    hint: `${sameCommand(where, input, options)} goes on with it`,
  });
  /** A repeated request answers how far the rewind is. */
  const untilRewound = async (): Promise<RewindAnswer> => {
    const end = run.terminal.now().getTime() + options.timeout * 1000;
    for (;;) {
      const leftSeconds = Math.max(0, (end - run.terminal.now().getTime()) / 1000);
      const waitSeconds = Math.min(WAIT_SECONDS, leftSeconds);
      const answer = await run.invoke('walkback-rewind', { ...input, waitSeconds });
      if (answer.status !== 'UNDOING' || leftSeconds === 0) return answer;
    }
  };
  return told(
    sessionId === undefined
      ? await run.progress('Rewinding', untilRewound)
      : await withProgress(run, sessionId, `Rewinding to ${options.to}`, untilRewound),
  );
};

const EXAMPLES = `
Examples:
  walkback rewind --to msg-2 --dry-run      what is undone and what is written, and what nothing takes back
  walkback rewind --to msg-2 --guidance "Ask the customer first."
  walkback rewind --to cp-7 --scope effects --yes   leaves files and conversation
  walkback rewind --saga s-1 --steps 2              the last two steps of a saga, which then goes on
  walkback rewind --saga s-1 --to refund --plan @rest.json   goes on with other steps
  walkback rollback --to cp-7                       the files alone

What sagas did after the target is undone first, then the files go back, and then the
conversation is cut there. When a compensator fails, files are untouched: saga retry,
resolve or skip, then the same --request goes on.`;

export const defineRewind = (rewind: Command, app: App): void => {
  rewind
    .description(
      'Take a session back to a message or checkpoint (effects of sagas, files, conversation), or a saga to a step.',
    )
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .addOption(
      new Option('--saga <id>', 'take back the last steps of this saga, and let it go on from there')
        .argParser(parseId)
        .conflicts(['session', 'epoch', 'checkpoint']),
    )
    .option(
      '--to <point>',
      'message id, checkpoint id (cp-7 will do), or head; its work stays; of a saga the last step that stays',
    )
    .option('--steps <n>', 'of a saga: how many of the last steps are taken back', parseWholeNumber(1, 1000))
    .option('--plan <json>', 'of a saga: other steps to go on with: JSON or @FILE')
    .addOption(
      new Option('--scope <part>', 'what goes back; of a saga its effects')
        .choices(REWIND_SCOPES)
        .default('all'),
    )
    .option('--guidance <text>', 'what the agent or the saga is told for its next steps')
    .option('--accept-residue', 'leave standing what nothing takes back')
    .addOption(residueOption())
    .addOption(reasonOption())
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .addOption(epochOption())
    .addOption(checkpointOption())
    .option('--timeout <seconds>', 'wait this long at most', parseWholeNumber(0, DAY_SECONDS), 600)
    .option('--dry-run', 'show the plan only')
    .option('-y, --yes', 'do not ask')
    .option('--by <who>', 'who acts (default: you)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: RewindOptions, command: Command) =>
      withConnection(app, command, (run) => act(run, options)),
    );
};
