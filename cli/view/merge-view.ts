import type { ForkSessionAnswer } from '../../contract/checkpoint-answers.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import type { Paint } from '../terminal/terminal.ts';
import { withWhere } from '../where-words.ts';
import { conflictLines, conflictSum } from './conflict-lines.ts';
import { repositoryLines, warningLines } from './rollback-view.ts';

/** The part of a merge's or revert's answer that is shown. */
type Shown = Pick<RollbackAnswer, 'repositories' | 'conflicts' | 'warnings' | 'epoch' | 'checkpointId'>;

interface Look {
  paint: Paint;
  width: number;
}

/** The plan of a merge or a revert. */
export const plannedMerge = (plan: Shown, title: string, look: Look): string => {
  const { paint, width } = look;
  const { conflicts = [] } = plan;
  return `${[
    `${paint.bold('Plan')}: ${title}`,
    ...(conflicts.length > 0 ? [] : repositoryLines(plan.repositories, paint, width)),
    ...conflictLines(plan, look),
    ...warningLines(plan, paint),
    ...conflictSum(plan),
  ].join('\n')}\n`;
};

/** What a merge or a revert did, and how to undo it. */
export const doneMerge = (result: Shown, title: string, undo: string | undefined, look: Look): string => {
  const { paint, width } = look;
  return `${[
    `${paint.green('✔')} ${title} ${paint.dim(result.checkpointId)}, epoch ${result.epoch}.`,
    ...repositoryLines(result.repositories, paint, width),
    ...conflictLines(result, look),
    ...((result.conflicts ?? []).length > 0
      ? ['  resolve what is between the markers, then merge the fork']
      : []),
    ...warningLines(result, paint),
    ...(undo === undefined ? [] : ['', `${paint.dim('undo')}  ${undo}`]),
  ].join('\n')}\n`;
};

export const forkedSession = (
  answer: ForkSessionAnswer,
  { directory, where, paint }: { directory: string | undefined; where: TargetFlags; paint: Paint },
): string => {
  const { sessionId, forkedFrom, repositories } = answer;
  const next = (name: string, words: string): string =>
    `${paint.dim(name.padEnd(7))}  ${withWhere(`walkback ${words}`, where)}`;
  return `${[
    `${paint.green('✔')} Fork ${paint.yellow(sessionId)} of ${forkedFrom.sessionId} at ${paint.dim(forkedFrom.checkpointId)}, ${plural(repositories.length, 'repository', 'repositories')}.`,
    directory === undefined ? `  sandbox  ${answer.sandboxId}` : `  files    ${directory}`,
    ...answer.warnings.map((warning) => paint.yellow(`  ! ${printableLine(warning)}`)),
    '',
    next('capture', `checkpoint --session ${sessionId} --message MESSAGE`),
    next('merge', `merge ${sessionId} --into ${forkedFrom.sessionId}`),
    next('discard', `session end ${sessionId} --discard`),
  ].join('\n')}\n`;
};
