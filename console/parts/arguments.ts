/** What a tool is given, readable: each argument by its name, texts in their own lines. */
import { html } from 'hono/html';
import { block, type Markup, said, shown } from './markup.ts';

/** Longer texts, and those of several lines, are shown as a block. */
const LONGEST_INLINE = 120;

const valuePart = (value: unknown): Markup => {
  if (typeof value === 'string') {
    return value.includes('\n') || value.length > LONGEST_INLINE ? block(value) : said(value);
  }
  if (typeof value === 'object' && value !== null) {
    const text = JSON.stringify(value, null, 1);
    return text.length > LONGEST_INLINE ? block(text) : shown(JSON.stringify(value));
  }
  return shown(JSON.stringify(value) ?? '');
};

export const argumentsPart = (given: object): Markup => {
  const entries = Object.entries(given);
  return entries.length === 0
    ? html`<p class="empty">No argument.</p>`
    : html`<dl class="given">${entries.map(([name, value]) => html`<div><dt>${shown(name)}</dt><dd>${valuePart(value)}</dd></div>`)}</dl>`;
};

/** The text of an input: its arguments if it is an object as JSON, else the text as it is. */
export const inputMarkup = (input: string): Markup => {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return argumentsPart(value);
  } catch {
    // It is a text, or JSON that was cut.
  }
  return block(input);
};
