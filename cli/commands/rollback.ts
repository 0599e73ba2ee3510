import type { Command } from 'commander';
import type { RollbackAnswer } from '../../contract/checkpoint-answers.ts';
import type { RollbackInput } from '../../contract/checkpoint-inputs.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { freshId, parseId, shellWord } from '../options.ts';
import { resolveTarget } from '../reference.ts';
import { resolveSession } from '../session.ts';
import { placeIn } from '../session-place.ts';
import { confirm } from '../terminal/confirm.ts';
import { plural } from '../terminal/text.ts';
import { appliedRollback, plannedRollback } from '../view/rollback-view.ts';

interface Options {
  session?: string;
  to: string;
  sandbox?: string;
  request?: string;
  dryRun?: boolean;
  filesOnly?: boolean;
  allowPartial?: boolean;
  yes?: boolean;
}

const EXAMPLES = `
Examples:
  walkback rollback --to msg-2 --dry-run    what would be written and deleted
  walkback rollback --to msg-2              shows the plan, asks, does it
  walkback rollback --to cp-7 --yes         does it; walkback log shows cp-7

Every repository goes back, or none does. What is there now is captured first;
the answer names the undo checkpoint and the command that brings it back. The
same --request again finishes what it began.`;

const planRollback = async (run: Run, input: RollbackInput): Promise<RollbackAnswer> =>
  run.progress('Planning the rollback', () => run.invoke('walkback-rollback', { ...input, dryRun: true }));

/** A rollback of this session and sandbox, with everything this command was told about where to work. */
const rollbackCommand = (run: Run, input: RollbackInput, to: string): string => {
  const words = ['walkback', 'rollback', '--session', input.sessionId, '--to', shellWord(to)];
  if (input.sandboxId !== undefined) words.push('--sandbox', input.sandboxId);
  if (run.options.data !== undefined) words.push('--data', shellWord(run.options.data));
  if (run.options.local === true) words.push('--local');
  if (run.options.aws === true) words.push('--aws');
  return words.join(' ');
};

/** The command that finishes this very request, or says that it is done. */
const sameCommand = (run: Run, input: RollbackInput, to: string): string =>
  [
    rollbackCommand(run, input, to),
    ...(input.filesOnly === true ? ['--files-only'] : []),
    ...(input.allowPartial === true ? ['--allow-partial'] : []),
    `--request ${input.requestId} --yes`,
  ].join(' ');

const applied = (run: Run, input: RollbackInput, to: string, answer: RollbackAnswer): Answer => {
  const undo =
    answer.undoCheckpointId === null ? undefined : rollbackCommand(run, input, answer.undoCheckpointId);
  return {
    value: { ...answer, requestId: input.requestId, undoCommand: undo },
    text: () => appliedRollback(answer, { to, undo, paint: run.paint, width: run.width }),
  };
};

const act = async (run: Run, options: Options): Promise<Answer> => {
  if (run.json && options.yes !== true && options.dryRun !== true) {
    throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
  }
  const sessionId = await resolveSession(run, options.session);
  const input: RollbackInput = {
    ...(await resolveTarget(run.invoke, sessionId, options.to)),
    sessionId,
    requestId: options.request ?? freshId('rollback'),
    ...(options.sandbox === undefined ? {} : { sandboxId: options.sandbox }),
    ...(options.filesOnly === true ? { filesOnly: true } : {}),
    ...(options.allowPartial === true ? { allowPartial: true } : {}),
  };
  if (options.dryRun === true || options.yes !== true) {
    const plan = await planRollback(run, input);
    const text = plannedRollback(plan, options.to, run.paint, run.width);
    // A request that is done answers what it did.
    if (options.dryRun === true && plan.status === 'PLANNED') return { value: plan, text: () => text };
    if (plan.status === 'APPLIED') return applied(run, input, options.to, plan);
    run.note(text);
    const standing = plan.effects?.length ?? 0;
    const stays = standing === 0 ? '' : ` (${plural(standing, 'effect')} of sagas will stand)`;
    const question = async () =>
      `Roll back all repositories in ${await placeIn(run, sessionId, options.sandbox)}${stays}?`;
    if (!(await confirm(run.terminal, question))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
  }
  run.underway({
    message: `Interrupted while rolling back. The rollback may be done, begun or neither: request ${input.requestId}.`,
    hint: `${sameCommand(run, input, options.to)} finishes it`,
  });
  const answer = await run.progress(`Rolling back to ${options.to}`, () =>
    run.invoke('walkback-rollback', input),
  );
  return applied(run, input, options.to, answer);
};

export const defineRollback = (rollback: Command, app: App): void => {
  rollback
    .description('Put all repositories of a session back to a message or checkpoint, or none of them.')
    .option('-s, --session <id>', 'session (default: see walkback --help)', parseId)
    .requiredOption('--to <point>', 'message id, checkpoint id (cp-7 will do), or head')
    .option('--dry-run', 'show the plan only')
    .option('--files-only', 'leave HEAD, branches and index as they are')
    .option('--allow-partial', 'accept a checkpoint that does not hold everything')
    .option('--request <id>', 'request id, to repeat the same request safely', parseId)
    .option('--sandbox <id>', "a review copy's sandbox (default: the session's)", parseId)
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', EXAMPLES)
    .action((options: Options, command: Command) => withConnection(app, command, (run) => act(run, options)));
};
