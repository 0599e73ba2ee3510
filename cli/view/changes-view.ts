/**
 * The view of `walkback changes`. All of its text comes from a sandbox or a model, so it is made printable
 * first.
 */
import type { ChangesAnswer, CheckpointChanges, FileChange } from '../../contract/change-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { hostLines } from '../../present/host-lines.ts';
import { printable, printableLine } from '../../present/text.ts';
import { callSubject } from '../../present/tool-call-words.ts';
import type { Paint } from '../terminal/terminal.ts';
import { padEnd, widest } from '../terminal/text.ts';
import { paintDiff } from './diff-view.ts';

type Repository = CheckpointChanges['repositories'][number];

const MOST_FILES = 200;
const LETTERS: Readonly<Record<FileChange['change'], string>> = {
  added: 'A',
  deleted: 'D',
  modified: 'M',
  renamed: 'R',
  retyped: 'T',
};

/** `+3 -1`, or a text when the numbers are not known. */
const numbersText = (counts: { added: number | null; deleted: number | null }, paint: Paint): string => {
  const { added, deleted } = counts;
  if (added === null || deleted === null) return paint.dim('not counted');
  return `${paint.green(`+${added}`)} ${paint.red(`-${deleted}`)}`;
};

const fileLine = (file: FileChange, width: number, paint: Paint): string => {
  const name = printableLine(file.path);
  const from = file.from === undefined ? '' : paint.dim(` (was ${printableLine(file.from)})`);
  const mode = file.mode === undefined ? '' : paint.dim(` mode ${file.mode.from} to ${file.mode.to}`);
  const numbers = file.binary ? paint.dim('not text, or over 4 MiB') : numbersText(file, paint);
  return `    ${LETTERS[file.change]} ${padEnd(name, width)}  ${numbers}${mode}${from}`;
};

const repositoryLines = (repository: Repository, paint: Paint, statOnly: boolean): string[] => {
  const { path, change, counts, files, host, patch, truncated, note } = repository;
  const shown = files.slice(0, MOST_FILES);
  const width = Math.min(60, widest(shown.map((file) => printableLine(file.path))));
  const more = files.length - shown.length;
  const what = change === 'changed' ? '' : ` ${change}`;
  const numbers =
    counts === null
      ? ''
      : `  ${counts.files === null ? 'files' : plural(counts.files, 'file')} ${numbersText(counts, paint)}`;
  return [
    `  ${paint.bold(printableLine(path))}${what}${numbers}`,
    ...hostLines(host).map((line) => `    ${paint.yellow(line)}`),
    ...shown.map((file) => fileLine(file, width, paint)),
    ...(more > 0 ? [paint.dim(`    and ${plural(more, 'more file')}`)] : []),
    ...(note === undefined ? [] : [paint.yellow(`    ! ${printableLine(note)}`)]),
    ...(statOnly || patch === '' ? [] : ['', ...paintDiff(patch.replace(/\n$/, ''), paint)]),
    ...(truncated ? [paint.yellow('    … cut here: not all of it was kept, or fits an answer')] : []),
  ];
};

const MOST_SAID_LINES = 12;

const callLine = (call: NonNullable<CheckpointChanges['madeBy']>, paint: Paint): string =>
  `${paint.bold(printableLine(call.name))} ${paint.dim(printableLine(callSubject(call)))}`.trimEnd();

const saidLines = ({ message }: CheckpointChanges, paint: Paint, statOnly: boolean): string[] => {
  const lines = printable(message?.text ?? message?.title ?? '')
    .trimEnd()
    .split('\n');
  const shown = lines.slice(0, statOnly ? 1 : MOST_SAID_LINES);
  const isCut = shown.length < lines.length || message?.truncated === true;
  return [
    ...(message === undefined
      ? []
      : shown.map(
          (line, at) => `  ${at === 0 ? paint.cyan(`${printableLine(message.role)}: `) : '  '}${line}`,
        )),
    ...(message !== undefined && isCut ? [paint.dim('    …')] : []),
  ];
};

/** A checkpoint is taken before its call, so the work of the call is in the next one. */
const nextLines = ({ tool }: CheckpointChanges, paint: Paint): string[] =>
  tool === undefined ? [] : [`${paint.dim('next:')} ${callLine(tool, paint)}`, ''];

const checkpointLines = (checkpoint: CheckpointChanges, paint: Paint, statOnly: boolean): string[] => {
  const { seq, checkpointId, messageId, repositories, warnings, madeBy } = checkpoint;
  const of = messageId === null ? '' : ` of ${paint.yellow(printableLine(messageId))}`;
  return [
    `${paint.bold(`cp-${seq}`)} ${paint.dim(checkpointId)}${of}`,
    ...saidLines(checkpoint, paint, statOnly),
    ...warnings.map((warning) => paint.yellow(`  ! ${printableLine(warning)}`)),
    ...(madeBy === undefined ? [] : [`  ${callLine(madeBy, paint)}`]),
    ...(repositories.length === 0 ? [paint.dim('  nothing changed')] : []),
    ...repositories.flatMap((repository) => repositoryLines(repository, paint, statOnly)),
    '',
  ];
};

export const changesText = ({ checkpoints }: ChangesAnswer, paint: Paint, statOnly: boolean): string =>
  checkpoints
    .flatMap((checkpoint, at) => [
      ...checkpointLines(checkpoint, paint, statOnly),
      ...(at === checkpoints.length - 1 ? nextLines(checkpoint, paint) : []),
    ])
    .join('\n');
