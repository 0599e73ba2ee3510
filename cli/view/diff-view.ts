import type { DiffAnswer } from '../../contract/change-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { doesDiffer } from '../../present/checkpoint-words.ts';
import { hostLines } from '../../present/host-lines.ts';
import { printable, printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, widest } from '../terminal/text.ts';

type RepositoryDiff = DiffAnswer['repositories'][number];

const counts = (added: number, deleted: number, paint: Paint): string =>
  `${paint.green(`+${added}`)} ${paint.red(`-${deleted}`)}`;

const HEADER =
  /^(diff --git |index |--- |\+\+\+ |old mode |new mode |new file mode |deleted file mode |similarity |rename |copy |Binary files )/;

/** `index 1234567..89abcde 100644`: whole object ids would not fit a terminal. */
const shortenIds = (line: string): string =>
  line.replace(/^index ([0-9a-f]{9})[0-9a-f]*\.\.([0-9a-f]{9})[0-9a-f]*/, 'index $1..$2');

/** Colours a unified diff like git. Headers end where a hunk begins, so a removed `-- x` line stays red. */
export const paintDiff = (diff: string, paint: Paint): string[] => {
  let inHunk = false;
  return printable(diff)
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff --git ')) inHunk = false;
      if (line.startsWith('@@')) {
        inHunk = true;
        const end = line.indexOf('@@', 2) + 2;
        return paint.cyan(line.slice(0, end)) + line.slice(end);
      }
      if (!inHunk) return HEADER.test(line) ? paint.bold(shortenIds(line)) : line;
      if (line.startsWith('+')) return paint.green(line);
      return line.startsWith('-') ? paint.red(line) : line;
    });
};

const statLines = (changed: readonly RepositoryDiff[], paint: Paint): string[] => {
  const width = widest(changed.map(({ path }) => printableLine(path)));
  return changed.flatMap(({ path, files, added, deleted, host, change }) => [
    `  ${padEnd(paint.bold(printableLine(path)), width)}  ${change === undefined ? '' : `${change}, `}${plural(files, 'file')} ${counts(added, deleted, paint)}`,
    ...hostLines(host).map((line) => `    ${paint.yellow(line)}`),
  ]);
};

const repositoryLines = (repository: RepositoryDiff, paint: Paint): string[] => [
  `${paint.bold(paint.inverse(` ${printableLine(repository.path)} `))} ${counts(repository.added, repository.deleted, paint)}`,
  '',
  ...paintDiff(repository.diff.replace(/\n$/, ''), paint),
  ...(repository.truncated
    ? [paint.yellow('… cut here: compare this repository alone with --repository')]
    : []),
  '',
];

/** The whole output of `walkback diff`: a summary, then every repository that differs. */
export const diffText = ({ repositories, warnings }: DiffAnswer, paint: Paint, statOnly: boolean): string => {
  const changed = repositories.filter(doesDiffer);
  const warned = warnings.map((warning) => paint.yellow(`! ${printableLine(warning)}`));
  if (changed.length === 0) return `${[...warned, 'No file differs in any repository.'].join('\n')}\n`;
  const summary = [
    ...warned,
    `${changed.length} of ${plural(repositories.length, 'repository', 'repositories')} ${changed.length === 1 ? 'differs' : 'differ'}`,
    ...statLines(changed, paint),
  ];
  if (statOnly) return `${summary.join('\n')}\n`;
  const bodies = changed
    .filter(({ files }) => files > 0)
    .flatMap((repository) => repositoryLines(repository, paint));
  return [...summary, '', ...bodies].join('\n');
};
