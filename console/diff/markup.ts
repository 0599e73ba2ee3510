/**
 * Renders a diff as markup, with the colours of its language and the words that changed. All text comes from
 * a sandbox: every part passes `escaped` in this file, so none of it becomes markup.
 */
import { html, raw } from 'hono/html';
import { sha256Hex } from '../../core/shared/ids.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatBytes, printable, printableLine } from '../../present/text.ts';
import { type Markup, NOTHING, shown } from '../parts/markup.ts';
import { colourLines, languageOf, type Piece } from './colours.ts';
import { type DiffLine, type FileDiff, type Hunk, parseDiff } from './parse.ts';
import { changedWords, type Span } from './words.ts';

/** A file whose diff is on the page. */
export interface ShownFile {
  /** With the repository. */
  path: string;
  anchor: string;
  added: number;
  deleted: number;
  isDeleted: boolean;
}

/** How much of all diffs one page shows, and the files that it shows. Every diff uses some of it. */
export interface Room {
  lines: number;
  /** Characters that may be coloured, because a grammar needs time for its text. */
  coloured: number;
  files: ShownFile[];
  /** The beginning of the files' anchors. */
  anchor: string;
  /** Most lines of one file. The rest is cut, and the page says so. */
  ofFile: number;
}

export interface FileLinks {
  /** Where it is shown with more lines around its changes. */
  wider: string;
  /** Where it is shown who wrote its lines. */
  blame: string;
}

/** Where a file of the repository leads to. */
export type LinksOf = (file: string) => FileLinks;

export const roomFor = (anchor = 'file', lines = 2_000, ofFile = 600): Room => ({
  lines,
  coloured: 40_000,
  files: [],
  anchor,
  ofFile,
});

/** Most characters of one line. */
export const LONGEST = 1_000;
/** Text after this is not even read. */
const MOST_READ = 320 * 1024;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string =>
  printable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Colours and changed words divide a line into parts. */
export const lineText = (text: string, pieces: readonly Piece[], spans: readonly Span[]): string => {
  const kinds: { from: number; to: number; kind: string | undefined }[] = [];
  let at = 0;
  for (const { length, kind } of pieces) {
    kinds.push({ from: at, to: at + length, kind });
    at += length;
  }
  if (at < text.length) kinds.push({ from: at, to: text.length, kind: undefined });
  const parts: string[] = [];
  const put = (from: number, to: number, kind: string | undefined): void => {
    if (from >= to) return;
    const words = escaped(text.slice(from, to));
    parts.push(kind === undefined ? words : `<i class="${kind}">${words}</i>`);
  };
  const within = (from: number, to: number): void => {
    for (const one of kinds) put(Math.max(from, one.from), Math.min(to, one.to), one.kind);
  };
  let done = 0;
  for (const { from, to } of spans) {
    within(done, from);
    if (from < to) {
      parts.push('<mark>');
      within(from, to);
      parts.push('</mark>');
    }
    done = to;
  }
  within(done, text.length);
  return parts.join('');
};

const ELEMENTS = { kept: 'span', added: 'ins', removed: 'del', note: 'em' } as const;

const lineMarkup = (line: DiffLine, pieces: readonly Piece[], spans: readonly Span[]): string => {
  const { kind, before, after } = line;
  const element = ELEMENTS[kind];
  const tooLong = line.text.length > LONGEST;
  const text = tooLong ? line.text.slice(0, LONGEST) : line.text;
  const cut = tooLong ? `<em> … ${plural(line.text.length - LONGEST, 'more character')}</em>` : '';
  const shownSpans = spans.filter(({ from }) => from < LONGEST);
  const numbers = `<b data-n="${before ?? ''}"></b><b data-n="${after ?? ''}"></b>`;
  return `<div class="${kind}">${numbers}<${element}>${lineText(text, pieces, shownSpans)}${cut}</${element}></div>`;
};

/** The first lines, as many as there is room to colour. */
const fitting = (lines: readonly DiffLine[], room: Room): DiffLine[] => {
  const end = lines.findIndex(({ text }) => {
    room.coloured -= text.length;
    return room.coloured < 0;
  });
  return lines.slice(0, end === -1 ? lines.length : end);
};

/** Each side is coloured separately, so that a removed line cannot end a string of an added one. */
const coloursOf = (
  lines: readonly DiffLine[],
  language: string | undefined,
  room: Room,
): Map<DiffLine, Piece[]> => {
  const colours = new Map<DiffLine, Piece[]>();
  if (language === undefined) return colours;
  const fit = fitting(lines, room);
  for (const other of ['added', 'removed'] as const) {
    const side = fit.filter(({ kind }) => kind !== other && kind !== 'note');
    const pieces = colourLines(
      side.map(({ text }) => text),
      language,
    );
    for (const [index, line] of side.entries()) colours.set(line, pieces[index] ?? []);
  }
  return colours;
};

const hunkMarkup = (hunk: Hunk, language: string | undefined, most: number, room: Room): string => {
  const lines = hunk.lines.slice(0, most);
  const colours = coloursOf(lines, language, room);
  const words = changedWords(lines);
  const body = lines.map((line) => lineMarkup(line, colours.get(line) ?? [], words.get(line) ?? []));
  const place = hunk.place.slice(0, 200);
  return `<div class="place">${place === '' ? '…' : escaped(place)}</div>${body.join('')}`;
};

const linesOf = ({ hunks }: FileDiff): number => hunks.reduce((sum, { lines }) => sum + lines.length, 0);

const hasMore = ({ lines }: Hunk): boolean => lines.some(({ kind }) => kind === 'kept');

/** Other lines, or another file, have another mark: what was viewed is not that any more. */
const viewedMark = ({ path, notes, hunks }: FileDiff): string =>
  sha256Hex(JSON.stringify([path, notes, hunks])).slice(0, 16);

/** The lines of a file that is gone can be opened. */
const isOpen = (isDeleted: boolean): Markup => (isDeleted ? NOTHING : html` open`);

/** A file that came or went has no other lines around. */
const linksPart = ({ wider, blame }: FileLinks, name: string, { hunks }: FileDiff): Markup =>
  html`<p class="wider">${
    hunks.some(hasMore)
      ? html`<a href="${wider}">More lines around<span class="unseen"> the changes of ${printableLine(name)}</span></a> `
      : NOTHING
  }<a href="${blame}">Who wrote each line<span class="unseen"> of ${printableLine(name)}</span></a></p>`;

/** The lines of one file. `prefix`: the beginning of its name, which need not be shown again. */
const fileMarkup = (file: FileDiff, prefix: string, room: Room, linksOf: LinksOf | undefined): Markup => {
  const language = languageOf(file.path);
  const all = linesOf(file);
  const most = Math.max(0, Math.min(all, room.ofFile, room.lines));
  let left = most;
  const hunks: string[] = [];
  for (const hunk of file.hunks) {
    if (left <= 0) break;
    hunks.push(hunkMarkup(hunk, language, left, room));
    left -= Math.min(left, hunk.lines.length);
  }
  room.lines -= most;
  const name = file.path.startsWith(prefix) ? file.path.slice(prefix.length) : file.path;
  const count = (kind: string): number =>
    file.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  const isDeleted = file.notes.some((note) => note.startsWith('deleted file mode'));
  const [added, deleted] = [count('added'), count('removed')];
  const anchor = `${room.anchor}-${room.files.length + 1}`;
  room.files.push({ path: file.path, anchor, added, deleted, isDeleted });
  return html`<div class="file" id="${anchor}" data-viewed="${viewedMark(file)}"><details${isOpen(isDeleted)}><summary><code>${shown(name)}</code> ${isDeleted ? html`<span class="hint">deleted</span> ` : NOTHING}${all === 0 ? NOTHING : html`<span class="counts"><ins>+${added}</ins> <del>−${deleted}</del>${file.isCut === true ? ' or more' : ''}</span>`}</summary>${
    file.notes.length === 0
      ? NOTHING
      : html`<p class="notes">${file.notes.slice(0, 8).map((note) => html`${shown(noteText(note))}<br />`)}</p>`
  }${
    hunks.length === 0
      ? NOTHING
      : html`<div class="diff" role="group" aria-label="Lines of ${printableLine(name)}" tabindex="0"><div class="lines">${raw(hunks.join(''))}</div></div>`
  }${all > most ? html`<p class="cut">Cut here: ${plural(all - most, 'more line')} of this file.</p>` : NOTHING}${
    // A file without lines, or one that is gone, has no writers.
    linksOf === undefined || all === 0 || isDeleted ? NOTHING : linksPart(linksOf(name), name, file)
  }</details></div>`;
};

/** git takes large files for binary ones too. */
const noteText = (note: string): string =>
  note.startsWith('Binary files ') ? 'Not shown by lines: not text, or too large.' : note;

/** The part of a long diff that is read ends with a whole line. */
const readPart = (diff: string): string =>
  diff.length <= MOST_READ ? diff : diff.slice(0, diff.lastIndexOf('\n', MOST_READ) + 1);

/** A whole diff, as far as there is room. `name`: that of the repository, which git writes before each path. */
export const diffMarkup = (diff: string, name: string, room: Room, linksOf?: LinksOf): Markup => {
  const read = readPart(diff);
  const files = parseDiff(read);
  const parts: Markup[] = [];
  for (const file of files) {
    if (room.lines <= 0) break;
    parts.push(fileMarkup(file, `${name}/`, room, linksOf));
  }
  const left = files.length - parts.length;
  const rest = diff.length - read.length;
  return html`${parts}${left > 0 ? html`<p class="cut">Cut here: ${plural(left, 'more file')}, so that the page stays small.</p>` : NOTHING}${
    rest > 0 ? html`<p class="cut">Cut here: ${formatBytes(rest)} more of this patch.</p>` : NOTHING
  }`;
};
