/** Whether operators were alerted of a saga that failed. */
import { html } from 'hono/html';
import type { Observation } from '../../contract/saga-answers.ts';
import { alertForPeople } from '../../present/saga-next.ts';
import { type Markup, NOTHING, said } from './markup.ts';

export const alertPart = (seen: Observation): Markup => {
  const text = alertForPeople(seen);
  if (text === undefined) return NOTHING;
  return html`<p class="${seen.alert?.status === 'refused' ? 'card stop' : 'hint'}">${said(text)}</p>`;
};
