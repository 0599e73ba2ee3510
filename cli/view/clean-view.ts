/** What `walkback clean` removes from the directories of this machine, or would remove. */
import type { Cleaned } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import type { DirectoryPlan } from '../../local/clean-directories.ts';
import { formatBytes, printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { leftoverLines } from './end-view.ts';

const part = (title: string, those: Cleaned['removed'], paint: Paint): string[] =>
  those.entries.length === 0
    ? []
    : [
        `    ${title}: ${plural(those.files, 'file')}, ${formatBytes(those.bytes)}`,
        ...leftoverLines(those, paint).map((line) => `  ${line}`),
      ];

/** Lines for each directory in which there is something of Walkback's. */
export const directoryLines = (
  plans: readonly DirectoryPlan[],
  { paint, isPlan }: { paint: Paint; isPlan: boolean },
): string[] =>
  plans.flatMap((plan) => {
    // Not the directory alone: nobody may think that it is deleted.
    const name = `  .agent-shadow in ${printableLine(plan.directory)}`;
    if ('problem' in plan) return [`${name} stays: ${printableLine(plan.problem)}`];
    const lines = [
      ...part(isPlan ? 'would be removed' : 'removed', plan.removed, paint),
      ...part('stays, because it may hold files of yours', plan.kept, paint),
      ...part('stays, because another cloud may have its session', plan.others, paint),
    ];
    return lines.length === 0 ? [] : [name, ...lines];
  });
