import type { UndoPlan } from '../../contract/saga-answers.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { withLink } from './link-lines.ts';

/** A step that runs sagas has no reference of its own. Those of its sagas follow. */
const stepText = (one: UndoPlan['undo'][number], paint: Paint): string => {
  const { step, tool, externalRef, epoch, amount, currency, children, sagaId } = one;
  const none = children === true ? 'its sagas:' : paint.dim('no reference');
  const reference = externalRef === null ? none : printableLine(externalRef);
  const money = amount === undefined ? '' : `  ${amount} ${currency ?? ''}`;
  const again = epoch === undefined ? '' : paint.dim(` (epoch ${epoch})`);
  const below = sagaId === undefined ? '' : paint.dim(`  of saga ${printableLine(sagaId)}`);
  return `${printableLine(step)}${again} ${paint.dim(printableLine(tool))}  ${reference}${money}${below}`;
};

/** The steps that an undo or a rewind takes back, in order, and those that nothing takes back. */
export const undoPlanLines = (
  { undo, undoNotListed = 0, stands, standsNotListed = 0, letStand = [], letStandNotListed = 0 }: UndoPlan,
  paint: Paint,
): string[] => [
  ...undo.flatMap((one) => {
    const notes = [
      ...(one.partly === true ? ['a part only'] : []),
      ...(one.unsure === true ? ['if it happened'] : []),
    ];
    const note = notes.length === 0 ? '' : paint.yellow(`  ${notes.join(', ')}`);
    return withLink(`  ${paint.yellow('↩')} ${stepText(one, paint)}${note}`, one.externalUrl, paint);
  }),
  ...(undoNotListed === 0 ? [] : [paint.yellow(`  ${undoNotListed} more are taken back`)]),
  ...stands.flatMap((one) =>
    withLink(`  ${paint.red('✖')} ${stepText(one, paint)}  ${paint.red(one.reason)}`, one.externalUrl, paint),
  ),
  ...(standsNotListed === 0 ? [] : [paint.red(`  ${standsNotListed} more stand`)]),
  ...(undo.length + undoNotListed + stands.length + standsNotListed === 0
    ? [paint.dim('  nothing to take back')]
    : []),
  ...letStand.flatMap((one) =>
    withLink(
      `  ${paint.yellow('✖')} ${stepText(one, paint)}  stays: ${printableLine(one.reason)}`,
      one.externalUrl,
      paint,
    ),
  ),
  ...(letStandNotListed === 0 ? [] : [paint.yellow(`  ${letStandNotListed} more were let stand before`)]),
];
