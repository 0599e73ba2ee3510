/** Ranges of days that people ask for, in the zone whose days are counted. */
import { html } from 'hono/html';
import { DAY_MS } from '../../contract/times.ts';
import { type Markup, NOTHING } from './markup.ts';

export interface Preset {
  name: string;
  from: string;
  to: string;
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** `today`: `2026-11-29`. Weeks begin on Monday. */
export const presetsOf = (today: string): Preset[] => {
  const ms = Date.parse(today);
  const sinceMonday = (new Date(ms).getUTCDay() + 6) % 7;
  const monthBefore = dayOf(Date.parse(`${today.slice(0, 7)}-01`) - DAY_MS);
  return [
    { name: 'Today', from: today, to: today },
    { name: 'Yesterday', from: dayOf(ms - DAY_MS), to: dayOf(ms - DAY_MS) },
    { name: 'This week', from: dayOf(ms - sinceMonday * DAY_MS), to: today },
    { name: 'This month', from: `${today.slice(0, 7)}-01`, to: today },
    { name: 'Last month', from: `${monthBefore.slice(0, 7)}-01`, to: monthBefore },
  ];
};

/** `here`: the same page with other filters. */
export const presetsPart = (
  today: string,
  chosen: { from?: string | undefined; to?: string | undefined },
  here: (more: Readonly<Record<string, string | undefined>>) => string,
): Markup =>
  html`<nav class="scopes" aria-label="Days">${presetsOf(today).map(
    ({ name, from, to }) =>
      html`<a href="${here({ from, to, saga: undefined, ref: undefined, key: undefined })}"${from === chosen.from && to === chosen.to ? html` aria-current="true"` : NOTHING}>${name}</a>`,
  )}</nav>`;
