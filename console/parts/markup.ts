/** Markup that every page uses. All text from outside passes `shown`, and `html` escapes it. */
import { html } from 'hono/html';
import { timeIn, UTC } from '../../contract/zones.ts';
import { printable, printableLine } from '../../present/text.ts';

export type Markup = ReturnType<typeof html>;

export const NOTHING: Markup = html``;

/** Fits on a phone. */
const LONGEST_WHOLE = 28;

/** As many characters as fit a narrow column on paper; an amount does. */
const LONGEST_WORD = 14;

/**
 * One line of text from a sandbox, a model or a tool. No control character has an effect, and its text
 * direction does not affect other text.
 */
export const shown = (text: string | null | undefined): Markup => {
  const line = printableLine(text ?? '');
  if (line === '') return NOTHING;
  if (line.length > LONGEST_WHOLE) return html`<bdi class="lengthy">${line}</bdi>`;
  if (/\s/.test(line)) return html`<bdi>${line}</bdi>`;
  // An id is not broken at its hyphens, but on paper, where it has to fit.
  return html`<bdi class="whole${line.length > LONGEST_WORD ? ' breakable' : ''}">${line}</bdi>`;
};

/** The directory of the session may itself be a repository. It has no other name then. */
export const repositoryName = (name: string): Markup =>
  name === '.' ? html`${shown(name)} <span class="hint">(the directory itself)</span>` : shown(name);

/** A form field sends its lines with Windows line ends, and so do some tools. */
const ofLines = (text: string): string => text.replaceAll('\r\n', '\n');

/** What a tool or a person wrote, in its own lines. */
export const said = (text: string | null | undefined): Markup =>
  html`<bdi class="said">${printable(ofLines(text ?? '').trim())}</bdi>`;

/** Letters of a line that a row has room for. An answer of a provider may be longer. */
const LONGEST_IN_ROW = 100;

/** Like `said`, inside a row: the beginning of the first line, and all of it when opened. */
export const folded = (text: string | null | undefined): Markup => {
  const whole = ofLines(text ?? '').trim();
  const [first = '', ...others] = whole.split('\n');
  if (first.length > LONGEST_IN_ROW) {
    return html`<details><summary>${shown(first.slice(0, LONGEST_IN_ROW))} …</summary>${said(whole)}</details>`;
  }
  return others.length === 0
    ? shown(first)
    : html`<details><summary>${shown(first)} …</summary>${said(others.join('\n'))}</details>`;
};

/** Number of lines that a block shows without scrolling on the narrowest phone, with the widest letters. */
const LINES_IN_SIGHT = 18;
const LETTERS_OF_LINE = 15;

/** Several lines. If they may need scrolling, the block can be reached with the keyboard. */
export const block = (text: string): Markup => {
  const lines = printable(ofLines(text));
  const most = lines.split('\n').length + lines.length / LETTERS_OF_LINE;
  return html`<pre dir="ltr"${most > LINES_IN_SIGHT ? html` tabindex="0"` : NOTHING}>${lines}</pre>`;
};

/**
 * How the script shows a time in the reader's zone: `ago` (3 minutes ago), `near` (with seconds, for rows near
 * each other), or `clock` (within a sentence).
 */
export type TimeLook = 'ago' | 'near' | 'clock';

/** A time in UTC. The script of the pages shows it in the reader's zone, and all of it on hover. */
export const time = (iso: string | undefined, look: TimeLook = 'ago'): Markup => {
  if (iso === undefined) return NOTHING;
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return shown(iso);
  const whole = timeIn(UTC, at.toISOString());
  return html`<time datetime="${at.toISOString()}" data-look="${look}" title="${whole} UTC">${look === 'near' ? whole : whole.slice(0, 16)} UTC</time>`;
};

/** A time of the ledger, in the zone whose days are counted. */
export const timeAt = (zone: string, iso: string | undefined): Markup => {
  if (iso === undefined) return NOTHING;
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return shown(iso);
  const whole = timeIn(zone, at.toISOString());
  return html`<time datetime="${at.toISOString()}" title="${whole} ${zone}">${whole}</time>`;
};

/** An id, for a command or another program. The script puts it behind a button that copies it. */
export const ident = (id: string): Markup => html`<code class="ident" dir="ltr">${printableLine(id)}</code>`;

export const link = (href: string, text: string): Markup => html`<a href="${href}">${shown(text)}</a>`;

/** Path segments are encoded, so an id stays one segment. */
export const path = (...segments: readonly string[]): string =>
  `/${segments.map((segment) => encodeURIComponent(segment)).join('/')}`;

export const query = (values: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given)).toString()}`;
};

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Markup | string | number;
  isNumber?: true;
  /** On a phone, this cell heads the card of its row. Default: the first one. */
  isHead?: true;
}

/**
 * `caption` names the table for a person who cannot see it. On a phone each row is a card, with the title of its
 * column before each cell: the roles say that it is a table all the same.
 */
export const table = <Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: string,
): Markup => {
  const head = Math.max(
    0,
    columns.findIndex(({ isHead }) => isHead === true),
  );
  const cellOf = (row: Row, { title, cell, isNumber }: Column<Row>, at: number): Markup => {
    const names = [...(isNumber ? ['number'] : []), ...(at === head ? ['head'] : [])];
    return html`<td role="cell" data-title="${title}"${names.length === 0 ? NOTHING : html` class="${names.join(' ')}"`}><div>${cell(row)}</div></td>`;
  };
  return rows.length === 0
    ? html`<p class="empty">${empty}</p>`
    : html`<div class="scroll" role="group" aria-label="${printableLine(caption)}" tabindex="0"><table role="table">
        <caption class="unseen">${printableLine(caption)}</caption>
        <thead role="rowgroup"><tr role="row">${columns.map(({ title, isNumber }) => html`<th role="columnheader" scope="col"${isNumber ? html` class="number"` : ''}>${title}</th>`)}</tr></thead>
        <tbody role="rowgroup">${rows.map(
          (row) => html`<tr role="row">${columns.map((column, at) => cellOf(row, column, at))}</tr>`,
        )}</tbody>
      </table></div>`;
};

const TONES: Readonly<Record<string, string>> = {
  COMPLETED: 'good',
  APPLIED: 'good',
  active: 'good',
  COMPENSATED: 'calm',
  AWAITING: 'ask',
  PARKED: 'ask',
  COMPENSATION_FAILED: 'bad',
};

/** A status in words. The colour adds nothing to the word. */
export const badge = (status: string, tone = TONES[status] ?? 'plain'): Markup =>
  html`<span class="badge ${tone}">${printableLine(status.toLowerCase().replaceAll('_', ' '))}</span>`;

export const facts = (entries: readonly (readonly [string, Markup | string])[]): Markup =>
  html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

export const list = (lines: readonly (Markup | string)[]): Markup =>
  lines.length === 0 ? NOTHING : html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;

const hiddenFields = (fields: Readonly<Record<string, string | undefined>>): Markup =>
  html`${Object.entries(fields).map(([name, value]) =>
    value === undefined ? NOTHING : html`<input type="hidden" name="${name}" value="${value}" />`,
  )}`;

/** The same form that was sent. */
export const formAgain = (action: string, fields: Readonly<Record<string, string>>, body: Markup): Markup =>
  html`<form method="post" action="${action}">${hiddenFields(fields)}${body}</form>`;

/**
 * A form that changes something. `token` ties it to who is signed in; sent twice, it is sent once. `id`: for a
 * button elsewhere on the page.
 */
export const form = (
  action: string,
  token: string,
  hidden: Readonly<Record<string, string | undefined>>,
  body: Markup,
  id?: string,
): Markup =>
  html`<form method="post" action="${action}"${id === undefined ? NOTHING : html` id="${id}"`}>${hiddenFields({ form_token: token, once: crypto.randomUUID(), ...hidden })}${body}</form>`;
