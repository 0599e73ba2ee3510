/** Renders the lines of a file with who wrote them in the margin. All text comes from a sandbox, and none of it becomes markup. */
import { html, raw } from 'hono/html';
import type { BlameAnswer } from '../../contract/blame.ts';
import { type Run, runsOf } from '../../present/blame-words.ts';
import { printableLine } from '../../present/text.ts';
import type { Markup } from '../parts/markup.ts';
import { colourLines, languageOf, type Piece } from './colours.ts';
import { LONGEST, lineText } from './markup.ts';

type Line = BlameAnswer['lines'][number];

/** Characters that may be coloured, because a grammar needs time for its text. */
const MOST_COLOURED = 120_000;

const coloursOf = (lines: readonly Line[], path: string): Map<number, Piece[]> => {
  const language = languageOf(path);
  const length = lines.reduce((sum, { text }) => sum + text.length, 0);
  if (language === undefined || length > MOST_COLOURED) return new Map();
  const pieces = colourLines(
    lines.map(({ text }) => text),
    language,
  );
  return new Map(lines.map(({ line }, at) => [line, pieces[at] ?? []]));
};

const lineMarkup = ({ line, text, isCut }: Line, pieces: readonly Piece[]): string => {
  const kept = text.slice(0, LONGEST);
  const cut = isCut === true || kept.length < text.length ? '<em> … more</em>' : '';
  return `<div class="kept"><b data-n="${line}"></b><span>${lineText(kept, pieces, [])}${cut}</span></div>`;
};

const runMarkup = (run: Run, colours: ReadonlyMap<number, Piece[]>, margin: Markup): Markup =>
  html`<div class="run"><p class="by">${margin}</p><div class="lines">${raw(
    run.lines.map((line) => lineMarkup(line, colours.get(line.line) ?? [])).join(''),
  )}</div></div>`;

/** `marginOf`: what is said beside the lines of an origin. */
export const blameMarkup = (
  { lines, path }: Pick<BlameAnswer, 'lines' | 'path'>,
  marginOf: (origin: number) => Markup,
): Markup => {
  const colours = coloursOf(lines, path);
  return html`<div class="alone"><div class="file"><div class="diff blame" role="group" aria-label="Lines of ${printableLine(path)}, and who wrote them" tabindex="0">${runsOf(lines).map((run) => runMarkup(run, colours, marginOf(run.origin)))}</div></div></div>`;
};
