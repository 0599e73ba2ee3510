/** What sagas did outside: the effects of a message, and those that a plan leaves standing. */
import { html } from 'hono/html';
import type { StandingEffect } from '../../contract/rollback-answers.ts';
import type { SessionEffect } from '../../contract/saga-answers.ts';
import { money, reference } from './ledger-tables.ts';
import { badge, link, type Markup, NOTHING, path, shown, table } from './markup.ts';

/** For a plan: effects that stay, whatever happens to files. */
export const standingPart = (effects: readonly StandingEffect[] = []): Markup =>
  effects.length === 0
    ? NOTHING
    : html`<section class="card stop"><h2>Effects that stay</h2>
    <p>These effects came after the target. Going back in the files does not take them back; going back in files and effects does, as far as anything can.</p>${table(
      'Effects that stay',
      [
        { title: 'Effect', cell: ({ sagaId, tool }) => link(path('sagas', sagaId), tool) },
        { title: 'Amount', isNumber: true, cell: ({ amount, currency }) => money(amount, currency) },
        { title: 'Reference', cell: ({ externalRef, externalUrl }) => reference(externalRef, externalUrl) },
        {
          title: 'Can be undone',
          cell: ({ reversible }) => (reversible ? 'yes' : badge('no', 'bad')),
        },
      ],
      effects,
      '',
    )}</section>`;

const standing = ({ stands, reversible, rejected, residue }: SessionEffect): Markup =>
  rejected === true
    ? badge('did not happen', 'plain')
    : !stands
      ? residue === undefined
        ? badge('undone', 'calm')
        : html`${badge('undone in part', 'ask')} ${shown(residue)}`
      : reversible
        ? badge('stands', 'good')
        : badge('cannot be undone', 'bad');

/** Shown beside the code changes of the same message. `to`: where a saga is shown. */
export const outsidePart = (
  effects: readonly SessionEffect[],
  to = (sagaId: string) => path('sagas', sagaId),
): Markup =>
  html`<section><h3>Outside the repositories</h3>${
    effects.length === 0
      ? html`<p class="empty">No saga did anything for this message.</p>`
      : html`<ul class="effects">${effects.map(
          (
            one,
          ) => html`<li><p><a href="${to(one.sagaId)}">${shown(one.tool)}</a> ${money(one.amount, one.currency)}</p>
        <p class="meta">${standing(one)} ${one.externalRef === null && one.externalUrl === undefined ? NOTHING : reference(one.externalRef, one.externalUrl)}</p></li>`,
        )}</ul>`
  }</section>`;
