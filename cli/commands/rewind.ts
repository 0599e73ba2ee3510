import { type Command, Option } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { RewindSessionAnswer, SessionRewind } from '../../contract/rewind.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import { standsIn } from '../../core/rewind/count-effects.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { capturing } from '../capturing.ts';
import {
  acceptedIn,
  checkpointOption,
  checkpointWords,
  epochOption,
  epochWords,
  plannedAt,
  reasonOption,
  residueLine,
  residueOption,
  residueWords,
} from '../decided.ts';
import { CliError } from '../failure.ts';
import { parseId, parseWholeNumber, shellWord } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { rewindFailure, untilRewound } from '../rewinding.ts';
import { operatorOf } from '../saga-operator.ts';
import { resolveSession } from '../session.ts';
import { placeIn } from '../session-place.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { plannedSessionRewind, sessionRewindText, whatGoesBack } from '../view/session-rewind-view.ts';
import { withWhere } from '../where-words.ts';

type Scope = NonNullable<SessionRewind['scope']>;

interface Options {
  session?: string;
  to: string;
  scope: Scope;
  guidance?: string;
  acceptResidue?: boolean;
  residue?: string;
  reason?: string;
  request?: string;
  epoch?: number;
  checkpoint?: string;
  timeout: number;
  dryRun?: boolean;
  yes?: boolean;
  by?: string;
}

const SCOPES: readonly Scope[] = ['all', 'effects', 'conversation'];

const inputOf = async (run: Run, options: Options): Promise<SessionRewind> => {
  const { scope, guidance, request, epoch, checkpoint, by, to } = options;
  const sessionId = await resolveSession(run, options.session);
  return {
    sessionId,
    to: plannedAt(await resolveTarget(run.invoke, sessionId, to), checkpoint),
    scope,
    requestId: request ?? freshId('rewind'),
    ...(epoch === undefined ? {} : { epoch }),
    by: operatorOf(run, by),
    ...(guidance === undefined ? {} : { guidance }),
    ...acceptedIn(options),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  };
};

/** The command that continues this same request, or says that it is done. */
const sameCommand = ({ options }: Run, input: SessionRewind): string => {
  const { sessionId, scope, guidance, acceptResidue, residue, reason, requestId, epoch, by = '' } = input;
  // `head` is another point by then.
  const point = 'messageId' in input.to ? input.to.messageId : input.to.checkpointId;
  const words = ['walkback', 'rewind', '--session', sessionId, '--to', point];
  if (scope !== undefined && scope !== 'all') words.push('--scope', scope);
  if (guidance !== undefined) words.push('--guidance', shellWord(guidance));
  if (acceptResidue === true) words.push('--accept-residue', ...residueWords(residue));
  if (reason !== undefined) words.push('--reason', shellWord(reason));
  if ('messageId' in input.to) words.push(...checkpointWords(input.to.checkpointId));
  words.push(...epochWords(epoch), '--request', requestId, '--by', shellWord(by));
  return withWhere([...words, '--yes'].join(' '), options);
};

const told = (
  run: Run,
  { sessionId }: SessionRewind,
  to: string,
  again: string,
  answer: RewindSessionAnswer,
): Answer => ({
  value: answer,
  text: () => {
    const { options: where, paint, width } = run;
    return sessionRewindText(answer, { sessionId, to, again, where, paint, width });
  },
  failure: rewindFailure(answer.status, {
    repair: `walkback saga retry, resolve, skip or undo what is left; then ${again} goes on with it`,
    again: `${again} goes on with it`,
  }),
});

/** Refuses before asking when the rewind would be refused anyway. */
const requireWay = (plan: RewindSessionAnswer, { acceptResidue }: SessionRewind): void => {
  const count = standsIn(plan);
  if (count === 0 || acceptResidue === true) return;
  throw new CliError(
    'PointOfNoReturn',
    `Nothing takes back ${plural(count, 'effect')} in the plan. Nothing was changed.`,
  );
};

/** Shows the plan and asks. Answers what to say when there is nothing to do. */
const planned = async (run: Run, input: SessionRewind, options: Options): Promise<Answer | undefined> => {
  const again = sameCommand(run, input);
  const plan = await run.progress('Planning the rewind', () =>
    run.invoke('walkback-rewind-session', { ...input, dryRun: true }),
  );
  // A finished request answers what it did.
  if (plan.status === 'REWOUND') return told(run, input, options.to, again, plan);
  const text = plannedSessionRewind(plan, { to: options.to, paint: run.paint, width: run.width });
  if (options.dryRun === true)
    return { value: plan, text: () => text + residueLine(plan.residue, standsIn(plan), run.paint) };
  run.note(text);
  requireWay(plan, input);
  const question = async (): Promise<string> => {
    const place = input.scope === 'all' ? await placeIn(run, input.sessionId) : '';
    return `Rewind session ${input.sessionId}: ${whatGoesBack(plan, input.scope, place)}?`;
  };
  if (!(await confirm(run.terminal, question))) {
    throw new CliError('NotConfirmed', 'Nothing was changed.');
  }
  // What is confirmed is the plan that was shown.
  if (plan.epoch !== undefined) input.epoch ??= plan.epoch;
  if (plan.residue !== undefined && input.acceptResidue === true) input.residue ??= plan.residue;
  if (plan.checkpointId !== undefined) input.to = plannedAt(input.to, plan.checkpointId);
  return undefined;
};

const act = async (run: Run, options: Options): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const input = await inputOf(run, options);
  if (options.dryRun === true || options.yes !== true) {
    const done = await planned(run, input, options);
    if (done !== undefined) return done;
  }
  const again = sameCommand(run, input);
  run.underway({
    message: `Interrupted while rewinding. The rewind may be done, begun or neither: request ${input.requestId}.`,
    hint: `${again} goes on with it`,
  });
  const answer = await capturing(run, input.sessionId, `Rewinding to ${options.to}`, () =>
    untilRewound(run, options.timeout, (waitSeconds) =>
      run.invoke('walkback-rewind-session', { ...input, waitSeconds }),
    ),
  );
  return told(run, input, options.to, again, answer);
};

const EXAMPLES = `
Examples:
  walkback rewind --to msg-2 --dry-run      what is undone and what is written, and what nothing takes back
  walkback rewind --to msg-2 --guidance "Ask the customer first."
  walkback rewind --to cp-7 --scope effects --yes   leaves files and conversation
  walkback rollback --to cp-7                       the files alone

What sagas did after the target is undone first, then the files go back, and then the
conversation is cut there. When a compensator fails, files are untouched: saga retry,
resolve or skip, then the same --request goes on.`;

export const defineRewind = (rewind: Command, app: App): void => {
  rewind
    .description('Take a session back to a message or checkpoint: effects of sagas, files, conversation.')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .requiredOption('--to <point>', 'message id, checkpoint id (cp-7 will do), or head; its work stays')
    .addOption(new Option('--scope <part>', 'what goes back').choices(SCOPES).default('all'))
    .option('--guidance <text>', 'what the agent is told for its next steps')
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
    .action((options: Options, command: Command) => withConnection(app, command, (run) => act(run, options)));
};
