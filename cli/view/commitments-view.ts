/** Shows which commitments are kept, and the output of the others. */
import type { VerifyCommitmentsAnswer } from '../../contract/workspace-answers.ts';
import type { Commitment } from '../../contract/workspace-inputs.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatDuration } from '../terminal/text.ts';

export const verifiedText = (
  { checkpointId, commitments, warnings }: VerifyCommitmentsAnswer,
  asked: readonly Commitment[],
  paint: Paint,
): string => {
  const lines = commitments.flatMap(({ id, status, exitCode, milliseconds, output }) => {
    const isKept = status === 'kept';
    const promise = asked.find((one) => one.id === id)?.description ?? '';
    const how = isKept ? '' : ` ${status}${exitCode === null ? '' : `, exit code ${exitCode}`}`;
    const took = paint.dim(formatDuration(milliseconds));
    return [
      `${isKept ? paint.green('✔') : paint.red('✖')} ${paint.bold(id)}  ${printableLine(promise)}${paint.red(how)}  ${took}`,
      ...(isKept ? [] : output.trimEnd().split('\n')).map((line) => `    ${printableLine(line)}`),
    ];
  });
  return `${[
    `${paint.dim('in a fresh copy of')} ${checkpointId}`,
    ...lines,
    ...warnings.map((warning) => paint.yellow(`! ${printableLine(warning)}`)),
  ].join('\n')}\n`;
};
