/** Shows what a rollback would do, asks, and does it: for `rollback`, `undo` and `redo`. */

import { freshId } from '../client/ids.ts';
import { plannedTarget } from '../client/plan.ts';
import type { Way } from '../client/undo.ts';
import type { RollbackInput } from '../contract/checkpoint-inputs.ts';
import type { RollbackAnswer } from '../contract/rollback-answers.ts';
import { plural } from '../core/shared/plural.ts';
import type { Answer, Run } from './app.ts';
import { checkpointWords, epochWords, plannedAt } from './decided.ts';
import { CliError } from './failure.ts';
import { shellWord } from './options.ts';
import { resolveTarget } from './reference.ts';
import { repositoriesLocation } from './session-place.ts';
import { confirm } from './terminal/confirm.ts';
import { readTimeline } from './timeline.ts';
import { isHostId, type LabelOf, messageLabel } from './view/message-label.ts';
import { appliedRollback, plannedRollback } from './view/rollback-view.ts';
import { withWhere } from './where-words.ts';
import { withProgress } from './with-progress.ts';

const NEWEST = 200;

export interface RollbackOptions {
  /** As the person wrote it. */
  to: string;
  /** Of `undo` and `redo`. */
  way?: Way;
  sandbox?: string;
  request?: string;
  /** The epoch in which it was decided. Default: that of the plan that is shown. */
  epoch?: number;
  /** Of the message, as it was decided. Default: that of the plan that is shown. */
  checkpoint?: string;
  dryRun?: boolean;
  filesOnly?: boolean;
  allowPartial?: boolean;
  /** Only these paths. */
  path?: string[];
  yes?: boolean;
}

/** Called before the functions are asked anything. */
export const requireAnswerable = (run: Run, { yes, dryRun }: { yes?: boolean; dryRun?: boolean }): void => {
  if (!run.json || yes === true || dryRun === true) return;
  throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
};

const planRollback = async (run: Run, input: RollbackInput): Promise<RollbackAnswer> =>
  withProgress(run, input.sessionId, 'Planning the rollback', () =>
    run.invoke('walkback-rollback', { ...input, dryRun: true }),
  );

/** What messages are called. The timeline is read only where an answer names one by the id of a host. */
const labelsFor = async (
  run: Run,
  sessionId: string,
  { discardedMessageIds, trimAfterMessageId }: RollbackAnswer,
): Promise<LabelOf> => {
  const ids = [...discardedMessageIds, ...(trimAfterMessageId === null ? [] : [trimAfterMessageId])];
  if (run.json || !ids.some(isHostId)) return (id) => id;
  const { messages } = await readTimeline(run, sessionId, NEWEST);
  const titles = new Map(messages.map(({ messageId, title }) => [messageId, title]));
  return (id) => messageLabel(id, titles.get(id));
};

/** A rollback of this session and sandbox, with everything that this command was told about where to work. */
const rollbackCommand = (run: Run, input: RollbackInput, to: string): string => {
  const words = ['walkback', 'rollback', '--session', input.sessionId, '--to', shellWord(to)];
  if (input.sandboxId !== undefined) words.push('--sandbox', input.sandboxId);
  return withWhere(words.join(' '), run.options);
};

/** The command that finishes this same request, or says that it is done. */
const sameCommand = (run: Run, input: RollbackInput, to: string): string =>
  [
    rollbackCommand(run, input, to),
    ...(input.filesOnly === true ? ['--files-only'] : []),
    ...(input.allowPartial === true ? ['--allow-partial'] : []),
    ...(input.paths ?? []).map((path) => `--path ${shellWord(path)}`),
    ...epochWords(input.epoch),
    ...(input.messageId === undefined ? [] : checkpointWords(input.checkpointId)),
    `--request ${input.requestId} --yes`,
  ].join(' ');

interface Done {
  to: string;
  /** The command that made it, where it has a name of its own. */
  way: Way | undefined;
  labelOf: LabelOf;
}

/** Takes it back. In a review copy, whose rollbacks are no part of the session's history, by the checkpoint. */
const backCommand = (
  run: Run,
  input: RollbackInput,
  undoCheckpointId: string,
  way: Way | undefined,
): string =>
  input.sandboxId === undefined
    ? withWhere(`walkback ${way === 'undo' ? 'redo' : 'undo'} --session ${input.sessionId}`, run.options)
    : rollbackCommand(run, input, undoCheckpointId);

const applied = (run: Run, input: RollbackInput, answer: RollbackAnswer, done: Done): Answer => {
  const { undoCheckpointId } = answer;
  const { to, way, labelOf } = done;
  const back = undoCheckpointId === null ? undefined : backCommand(run, input, undoCheckpointId, way);
  return {
    value: { ...answer, requestId: input.requestId, undoCommand: back },
    text: () =>
      appliedRollback(answer, {
        to,
        paths: input.paths,
        commandTo: (checkpointId) => rollbackCommand(run, input, checkpointId),
        back,
        labelOf,
        paint: run.paint,
        width: run.width,
      }),
  };
};

export const rollBack = async (run: Run, sessionId: string, options: RollbackOptions): Promise<Answer> => {
  const input: RollbackInput = {
    ...plannedAt(await resolveTarget(run.invoke, sessionId, options.to), options.checkpoint),
    sessionId,
    requestId: options.request ?? freshId('rollback'),
    ...(options.epoch === undefined ? {} : { epoch: options.epoch }),
    ...(options.sandbox === undefined ? {} : { sandboxId: options.sandbox }),
    ...(options.filesOnly === true ? { filesOnly: true } : {}),
    ...(options.allowPartial === true ? { allowPartial: true } : {}),
    ...(options.path === undefined ? {} : { paths: options.path }),
  };
  let labelOf: LabelOf | undefined;
  if (options.dryRun === true || options.yes !== true) {
    const plan = await planRollback(run, input);
    labelOf = await labelsFor(run, sessionId, plan);
    const text = plannedRollback(plan, {
      to: options.to,
      paths: options.path,
      labelOf,
      paint: run.paint,
      width: run.width,
    });
    // A finished request answers what it did.
    if (options.dryRun === true && plan.status === 'PLANNED') return { value: plan, text: () => text };
    if (plan.status === 'APPLIED')
      return applied(run, input, plan, { to: options.to, way: options.way, labelOf });
    run.note(text);
    const standing = plan.effects?.length ?? 0;
    const stays = standing === 0 ? '' : ` (${plural(standing, 'effect')} of sagas will stand)`;
    const question = async () =>
      `Roll back ${options.path === undefined ? 'all repositories' : plural(options.path.length, 'path')} in ${await repositoriesLocation(run, sessionId, options.sandbox)}${stays}?`;
    // With conflicts, the call itself refuses with an error of its own.
    const isAsked = (plan.conflicts ?? []).length === 0;
    if (isAsked && !(await confirm(run.terminal, question))) {
      throw new CliError('NotConfirmed', 'Nothing was changed.');
    }
    // What is confirmed is the plan that was shown.
    if (options.sandbox === undefined) input.epoch ??= plan.epoch;
    input.checkpointId ??= plannedTarget(plan);
  }
  run.underway({
    message: `Interrupted while rolling back. The rollback may be done, begun or neither: request ${input.requestId}.`,
    hint: `${sameCommand(run, input, options.to)} finishes it`,
  });
  const answer = await withProgress(run, sessionId, `Rolling back to ${options.to}`, () =>
    run.invoke('walkback-rollback', input),
  );
  labelOf ??= await labelsFor(run, sessionId, answer);
  return applied(run, input, answer, { to: options.to, way: options.way, labelOf });
};
