/** What sagas did outside: the effects of a message, and those that a plan leaves standing. */
import { html } from 'hono/html';
import type { StandingEffect } from '../../contract/rollback-answers.ts';
import type { SessionEffect } from '../../contract/saga-answers.ts';
import { reference } from './ledger-tables.ts';
import { badge, link, type Markup, NOTHING, path, shown, table } from './markup.ts';

/** For a plan: effects that stay, whatever happens to files. */
export const standingPart = (effects: readonly StandingEffect[] = []): Markup =>
  effects.length === 0
    ? NOTHING
    : html`<section class="card stop"><h2>What stands, whatever the files do</h2>
    <p>These effects came after the target. A rollback of files does not take them back; a rewind does, as far as anything can.</p>${table(
      'Effects that stand',
      [
        { title: 'Saga', cell: ({ sagaId }) => link(path('sagas', sagaId), sagaId) },
        { title: 'Tool', cell: ({ tool }) => shown(tool) },
        { title: 'Reference', cell: ({ externalRef, externalUrl }) => reference(externalRef, externalUrl) },
        { title: 'Message', cell: ({ messageId }) => shown(messageId) },
        { title: 'Can be undone', cell: ({ reversible }) => (reversible ? 'yes' : 'no') },
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
      : html`<div class="effects">${effects.map(
          (one) => html`<div class="card"><p><strong>${shown(one.tool)}</strong> ${standing(one)}</p>
        <p class="meta">${one.externalRef === null && one.externalUrl === undefined ? 'no reference' : reference(one.externalRef, one.externalUrl)}</p>
        <p class="meta">step ${shown(one.step)} of ${link(to(one.sagaId), one.sagaId)}</p></div>`,
        )}</div>`
  }</section>`;
