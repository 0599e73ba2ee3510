/**
 * Reads a unified diff of git as files, hunks and lines. A part that is cut off, or is not a diff, stays
 * text. Pure.
 */

type LineKind = 'kept' | 'added' | 'removed' | 'note';

export interface DiffLine {
  kind: LineKind;
  /** The line without its first column. */
  text: string;
  /** Line numbers on each side, from 1; null when the line is not on that side. */
  before: number | null;
  after: number | null;
}

export interface Hunk {
  /** What git writes after the second `@@`: mostly the function. */
  place: string;
  lines: DiffLine[];
}

export interface FileDiff {
  /** The path in the diff, with the repository, from the side that has the file. */
  path: string;
  /** What git says about the file beside lines: mode, rename, binary. */
  notes: string[];
  hunks: Hunk[];
  /** The diff ends before this file does. */
  isCut?: true;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const MOVED = /^(?:rename|copy) (from|to) (.*)$/;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b' };

/** git quotes unusual names like C. */
const unquoted = (name: string): string => {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: Buffer[] = [];
  for (const [piece] of name.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gsu)) {
    if (/^\\[0-7]{3}$/.test(piece)) bytes.push(Buffer.from([Number.parseInt(piece.slice(1), 8) & 255]));
    else if (piece.startsWith('\\')) bytes.push(Buffer.from(ESCAPES[piece.slice(1)] ?? piece.slice(1)));
    else bytes.push(Buffer.from(piece));
  }
  return Buffer.concat(bytes).toString('utf8');
};

/** `a/api/x.txt` becomes `api/x.txt`. A name with blanks is followed by a tab. */
const nameIn = (line: string, prefix: '--- ' | '+++ '): string | undefined => {
  const name = unquoted(line.slice(prefix.length).replace(/\t$/, ''));
  if (name === '/dev/null') return undefined;
  return /^[ab]\//.test(name) ? name.slice(2) : name;
};

/**
 * The second name in `diff --git a/x b/y`, when no other line has it. Two names that are not quoted can be told
 * apart only by their lengths: `longer` says by how much the second is longer, after a rename.
 */
const nameOfHeader = (line: string, longer = 0): string => {
  const names = line.slice('diff --git '.length);
  const behind = /"(?:\\.|[^"\\])*"$/.exec(names)?.[0];
  if (behind !== undefined) return unquoted(behind).slice(2);
  const before = /^"(?:\\.|[^"\\])*" /.exec(names)?.[0];
  const length = (names.length - 'a/ b/'.length + longer) / 2;
  return before === undefined ? names.slice(names.length - length) : names.slice(before.length + 2);
};

/** Walks through a diff once. */
export const parseDiff = (diff: string): FileDiff[] => {
  const files: FileDiff[] = [];
  let file: FileDiff | undefined;
  let header = '';
  let movedFrom = '';
  let hunk: Hunk | undefined;
  let before = 0;
  let after = 0;
  // Lines are counted, so that a removed line `-- x` is not taken for a header.
  let leftBefore = 0;
  let leftAfter = 0;
  const fileNow = (): FileDiff => {
    if (file === undefined) {
      file = { path: '', notes: [], hunks: [] };
      files.push(file);
    }
    return file;
  };
  const inHunk = (line: string): boolean => {
    if (hunk === undefined) return false;
    const [mark, text] = [line.charAt(0), line.slice(1)];
    if (mark === '\\') {
      hunk.lines.push({ kind: 'note', text: text.trim(), before: null, after: null });
      return true;
    }
    if (leftBefore <= 0 && leftAfter <= 0) return false;
    if (mark === '+') {
      hunk.lines.push({ kind: 'added', text, before: null, after });
      after += 1;
      leftAfter -= 1;
      return true;
    }
    if (mark === '-') {
      hunk.lines.push({ kind: 'removed', text, before, after: null });
      before += 1;
      leftBefore -= 1;
      return true;
    }
    // An empty line whose blank somebody trimmed still counts as one.
    if (mark !== ' ' && line !== '') return false;
    hunk.lines.push({ kind: 'kept', text, before, after });
    before += 1;
    after += 1;
    leftBefore -= 1;
    leftAfter -= 1;
    return true;
  };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (inHunk(line)) continue;
    const start = HUNK.exec(line);
    if (line.startsWith('diff --git ')) {
      header = line;
      file = { path: nameOfHeader(line), notes: [], hunks: [] };
      files.push(file);
      hunk = undefined;
    } else if (start !== null) {
      const [, from = '', fromCount = '1', to = '', toCount = '1', place = ''] = start;
      [before, leftBefore, after, leftAfter] = [Number(from), Number(fromCount), Number(to), Number(toCount)];
      hunk = { place, lines: [] };
      fileNow().hunks.push(hunk);
    } else if (line.startsWith('--- ')) fileNow().path = nameIn(line, '--- ') ?? fileNow().path;
    else if (line.startsWith('+++ ')) fileNow().path = nameIn(line, '+++ ') ?? fileNow().path;
    else if (line !== '' && !line.startsWith('index ')) {
      fileNow().notes.push(line);
      const [, side, name = ''] = MOVED.exec(line) ?? [];
      if (side === 'from') movedFrom = name;
      if (side === 'to') fileNow().path = nameOfHeader(header, name.length - movedFrom.length);
    }
  }
  if (file !== undefined && (leftBefore > 0 || leftAfter > 0)) file.isCut = true;
  return files;
};
