/** Whether operators were alerted of a saga that failed. */
import { html } from 'hono/html';
import type { Observation } from '../../contract/saga-observation.ts';
import { alertForPeople } from '../../present/saga-next.ts';
import { type Markup, NOTHING, said, time } from './markup.ts';

export const alertPart = (seen: Observation): Markup => {
  const text = alertForPeople(seen);
  if (text === undefined) return NOTHING;
  const { at } = seen.alert ?? {};
  const [before = '', ...after] = at === undefined ? [text] : text.split(at);
  const rest = after.join(at);
  const words = html`${said(before)}${after.length === 0 ? NOTHING : html`${before.endsWith(' ') ? ' ' : ''}${time(at, 'clock')}${rest.startsWith(' ') ? ' ' : ''}${said(rest)}`}`;
  return html`<p class="${seen.alert?.status === 'refused' ? 'card stop' : 'hint'}">${words}</p>`;
};
