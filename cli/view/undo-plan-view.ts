import type { ObservedStep, UndoPlan } from '../../contract/saga-answers.ts';
import type { Paint } from '../terminal/terminal.ts';
import { printableLine } from '../terminal/text.ts';

const stepText = ({ step, tool, externalRef, epoch }: ObservedStep, paint: Paint): string => {
  const reference = externalRef === null ? paint.dim('no reference') : printableLine(externalRef);
  const again = epoch === undefined ? '' : paint.dim(` (epoch ${epoch})`);
  return `${printableLine(step)}${again} ${paint.dim(printableLine(tool))}  ${reference}`;
};

/** The steps that an undo or a rewind takes back, in their order, and those that nothing takes back. */
export const undoPlanLines = ({ undo, stands }: UndoPlan, paint: Paint): string[] => [
  ...undo.map((one) => {
    const notes = [
      ...(one.partly === true ? ['a part only'] : []),
      ...(one.unsure === true ? ['if it happened'] : []),
    ];
    const note = notes.length === 0 ? '' : paint.yellow(`  ${notes.join(', ')}`);
    return `  ${paint.yellow('↩')} ${stepText(one, paint)}${note}`;
  }),
  ...stands.map((one) => `  ${paint.red('✖')} ${stepText(one, paint)}  ${paint.red(one.reason)}`),
  ...(undo.length === 0 && stands.length === 0 ? [paint.dim('  nothing to take back')] : []),
];
