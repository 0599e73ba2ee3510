/**
 * What a rewind or an undo of a saga takes back and what stays. Nothing is left standing without being
 * confirmed.
 */
import { html } from 'hono/html';
import type { UndoPlan } from '../../contract/saga-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { money, reference } from './ledger-tables.ts';
import { badge, folded, type Markup, NOTHING, shown, table } from './markup.ts';

export const undoPlanTable = (caption: string, plan: UndoPlan, none: string): Markup =>
  html`${stepsTable(caption, plan, none)}${notListedPart(plan)}`;

const notListedPart = ({
  undoNotListed = 0,
  standsNotListed = 0,
  letStandNotListed = 0,
}: UndoPlan): Markup =>
  undoNotListed + standsNotListed + letStandNotListed === 0
    ? NOTHING
    : html`<p class="cut">Cut here: ${undoNotListed} more are undone, ${standsNotListed} more stand, ${letStandNotListed} more were let stand before.</p>`;

const stepsTable = (caption: string, plan: UndoPlan, none: string): Markup =>
  table(
    caption,
    [
      { title: 'Step', cell: ({ step }) => shown(step) },
      { title: 'Tool', cell: ({ tool }) => shown(tool) },
      { title: 'Amount', isNumber: true, cell: (one) => money(one.amount, one.currency) },
      { title: 'Reference', cell: ({ externalRef, externalUrl }) => reference(externalRef, externalUrl) },
      { title: 'What becomes of it', cell: ({ what }) => what },
    ],
    [
      ...plan.undo.map((one) => ({
        ...one,
        what: html`${badge('is undone', 'calm')}${one.partly ? ' in part' : ''}${one.unsure ? ', if it happened' : ''}`,
      })),
      ...plan.stands.map((one) => ({ ...one, what: html`${badge('stands', 'bad')} ${folded(one.reason)}` })),
      ...(plan.letStand ?? []).map((one) => ({
        ...one,
        what: html`${badge('was let stand', 'ask')} ${folded(one.reason)}`,
      })),
    ],
    none,
  );

/** `what`: the words as in "To rewind all the same". `why`: where a person says why it may stay. */
export const residueTick = (stands: number, what: string, why: Markup): Markup =>
  stands === 0
    ? NOTHING
    : html`<section class="card stop"><h2>Point of no return</h2><p>Nothing takes back ${plural(stands, 'effect')} named above. To ${what} all the same means that ${stands === 1 ? 'it stays' : 'they stay'} as ${stands === 1 ? 'it is' : 'they are'}.</p>
            <label class="tick"><input type="checkbox" name="residue" value="accepted" required /> ${stands === 1 ? 'It may stay' : 'They may stay'}</label>${why}</section>`;

/** `name`: the field of the request that takes it. */
export const whyField = (name: 'evidence' | 'reason', isRequired: boolean, value = ''): Markup =>
  html`<label for="${name}">Why (${isRequired ? 'needed' : 'optional'}; goes into the ledger)</label><input id="${name}" name="${name}" maxlength="2000" size="48" value="${value}"${isRequired ? html` required` : ''} />`;
