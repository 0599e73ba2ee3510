/** What sagas did outside: the effects of a message, and those that a plan leaves standing. */
import { html } from 'hono/html';
import type { StandingEffect } from '../../contract/rollback-answers.ts';
import type { SagasAnswer, SessionEffect } from '../../contract/saga-lists.ts';
import { sagaTitle } from '../../present/saga-words.ts';
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

const effectPart = (one: SessionEffect, to: string): Markup =>
  html`<li><p><a href="${to}">${shown(one.tool)}</a> ${money(one.amount, one.currency)}</p>
        <p class="meta">${standing(one)} ${one.externalRef === null && one.externalUrl === undefined ? NOTHING : reference(one.externalRef, one.externalUrl)}</p></li>`;

/** Shown beside the code changes of the same message, saga by saga. `to`: where a saga is shown. */
export const outsidePart = (
  { effects = [], sagas }: Pick<SagasAnswer, 'effects' | 'sagas'>,
  to = (sagaId: string) => path('sagas', sagaId),
): Markup => {
  const titles = new Map(sagas.map((one) => [one.sagaId, sagaTitle(one)]));
  const ids = [...new Set(effects.map(({ sagaId }) => sagaId))];
  return html`<section><h3>Outside the repositories</h3>${
    effects.length === 0
      ? html`<p class="empty">No saga did anything for this message.</p>`
      : html`<ul class="effects">${ids.map(
          (sagaId) =>
            html`<li class="of"><a href="${to(sagaId)}">${shown(titles.get(sagaId) ?? sagaId)}</a></li>${effects
              .filter((one) => one.sagaId === sagaId)
              .map((one) => effectPart(one, to(sagaId)))}`,
        )}</ul>`
  }</section>`;
};
