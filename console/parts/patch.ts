/** A unified diff as lines; words say added and removed to who does not see the colours. */
import { html } from 'hono/html';
import { printableLine } from '../../cli/terminal/text.ts';
import type { Markup } from './markup.ts';

/** Of one patch on a page; the rest is cut, and said. */
const MOST_LINES = 2_000;

const line = (text: string): Markup => {
  const safe = printableLine(text.replaceAll('\t', '    '));
  if (text.startsWith('+') && !text.startsWith('+++')) return html`<ins>${safe}</ins>`;
  if (text.startsWith('-') && !text.startsWith('---')) return html`<del>${safe}</del>`;
  if (text.startsWith('@@') || text.startsWith('diff ')) return html`<b>${safe}</b>`;
  return html`<span>${safe}</span>`;
};

export const patchLines = (patch: string, name: string): Markup => {
  const lines = patch.replace(/\n$/, '').split('\n');
  const cut = lines.length - MOST_LINES;
  return html`<div class="diff scroll" role="region" aria-label="Patch of ${name}" tabindex="0">${lines
    .slice(0, MOST_LINES)
    .map((one) =>
      line(one),
    )}</div>${cut > 0 ? html`<p class="hint">${cut} more lines; walkback changes shows them.</p>` : ''}`;
};
