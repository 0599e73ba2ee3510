import type { RehydrateAnswer } from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { printableLine } from '../../present/text.ts';
import type { TargetFlags } from '../target/select.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatDuration } from '../terminal/text.ts';
import { withWhere } from '../where-words.ts';

interface Facts {
  sessionId: string;
  mode: 'review' | 'resume';
  /** Where the files are on this machine, if they are here. */
  directory: string | undefined;
  /** How long the sandbox lives; undefined when the function decides. */
  lifetimeMs: number | undefined;
  /** The flags that a command for copying needs to work in the same place. */
  where: TargetFlags;
  paint: Paint;
}

const fact = (paint: Paint, name: string, value: string): string =>
  `  ${paint.dim(name.padEnd(10))}  ${value}`;

/** Where the new sandbox is, how long it lives, and what becomes of the old place. */
const whereLines = (result: RehydrateAnswer, facts: Facts): string[] => {
  const { paint, mode, directory, lifetimeMs, where } = facts;
  const deleting = withWhere(`walkback copies delete ${result.sandboxId}`, where);
  const root = printableLine(result.projectsRoot);
  return [
    fact(paint, 'sandbox', paint.bold(result.sandboxId)),
    fact(paint, 'checkpoint', result.checkpointId),
    directory === undefined ? fact(paint, 'root', root) : fact(paint, 'directory', printableLine(directory)),
    ...(lifetimeMs === undefined
      ? []
      : [fact(paint, 'lives', `${formatDuration(lifetimeMs)}, then its files go`)]),
    ...(mode === 'review' ? [fact(paint, 'delete', deleting)] : []),
    ...(mode === 'resume' && directory !== undefined
      ? [paint.dim(`  The session works there from now on; ${root} itself stays as it is.`)]
      : []),
  ];
};

/** The answer of `walkback rehydrate`. */
export const rehydratedSession = (result: RehydrateAnswer, facts: Facts): string => {
  const { paint, sessionId, mode } = facts;
  const count = plural(result.repositories.length, 'repository', 'repositories');
  const what =
    mode === 'resume' ? `${sessionId} goes on in a fresh sandbox` : `A review copy of ${sessionId} is ready`;
  const rows = result.repositories.map(({ path, branch, head }) => [
    paint.bold(printableLine(path)),
    printableLine(branch ?? (head === undefined ? '-' : 'detached')),
    paint.yellow(head?.slice(0, 9) ?? 'no commit'),
  ]);
  return [
    `${paint.green('✔')} ${what}: ${count}, verified.`,
    ...whereLines(result, facts),
    '',
    ...(rows.length === 0
      ? []
      : [table([{ head: 'REPOSITORY' }, { head: 'BRANCH' }, { head: 'HEAD' }], rows, paint)]),
    ...result.warnings.map((warning) => paint.yellow(`! ${printableLine(warning)}`)),
  ].join('\n');
};
