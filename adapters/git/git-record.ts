/**
 * Reads the output of `git diff-tree -z --raw --numstat -p`: the list of files, their counts, the patch. The
 * output may be cut anywhere, and nothing in it is trusted (C10). Pure.
 */
import type { FileChange } from '../../contract/change-answers.ts';
import { decodeName } from './names.ts';

/** Files beyond this number are counted, but not listed. */
const MAX_FILES = 2_000;
/** Limit for the list, because names can be long. */
const MAX_LIST_BYTES = 512 * 1024;

export interface GitRecord {
  files: FileChange[];
  total: { files: number; added: number; deleted: number };
  patch: Uint8Array;
  /** The list of files and their counts are complete, and all files are listed. */
  isWholeList: boolean;
}

const KINDS: Readonly<Record<string, FileChange['change']>> = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'retyped',
};

const RAW = /^:([0-7]{6}) ([0-7]{6}) [0-9a-f]{4,64} [0-9a-f]{4,64} ([ACDMRT])\d*$/;
const COUNTS = /^(\d{1,12}|-)\t(\d{1,12}|-)\t/;

/** Texts that end with NUL, one after the other. */
const createTexts = (bytes: Uint8Array) => {
  let at = 0;
  return {
    /** The next text. Undefined when it does not end. */
    next: (): Uint8Array | undefined => {
      const stop = bytes.indexOf(0, at);
      if (stop < 0) return undefined;
      const text = bytes.subarray(at, stop);
      at = stop + 1;
      return text;
    },
    /** The next byte. */
    peek: (): string => String.fromCharCode(bytes[at] ?? 0),
    isAtEnd: (): boolean => at >= bytes.length,
    rest: (): Uint8Array => bytes.subarray(at),
  };
};

type Texts = ReturnType<typeof createTexts>;

const latin = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

/** One entry of the list. `cut`: the entry is incomplete. `none`: this is not an entry. */
const readEntry = (texts: Texts): FileChange | 'cut' | 'none' => {
  const head = texts.next();
  const first = head === undefined ? undefined : texts.next();
  if (head === undefined || first === undefined) return 'cut';
  const [, before = '', after = '', letter = ''] = RAW.exec(latin(head)) ?? [];
  const change = KINDS[letter];
  if (change === undefined) return 'none';
  const second = letter === 'R' || letter === 'C' ? texts.next() : first;
  if (second === undefined) return 'cut';
  const isKept = change === 'modified' || change === 'renamed';
  return {
    path: decodeName(second),
    ...(change === 'renamed' && { from: decodeName(first) }),
    change,
    added: null,
    deleted: null,
    binary: false,
    ...(isKept && before !== after && { mode: { from: before, to: after } }),
  };
};

interface Counted {
  path: string;
  added: number | null;
  deleted: number | null;
}

/** One line of counts. Undefined at the end of the counts, or where they are cut. */
const readCounts = (texts: Texts): Counted | undefined => {
  const text = texts.next();
  const match = text === undefined ? null : COUNTS.exec(latin(text));
  if (text === undefined || match === null) return undefined;
  const [head, added = '-', deleted = '-'] = match;
  let name = text.subarray(head.length);
  if (name.length === 0) {
    // For a rename, the old name and the new name follow.
    const last = texts.next() && texts.next();
    if (last === undefined) return undefined;
    name = last;
  }
  const number = (digits: string): number | null => (digits === '-' ? null : Number(digits));
  return { path: decodeName(name), added: number(added), deleted: number(deleted) };
};

const listed = (files: readonly FileChange[]): FileChange[] => {
  let room = MAX_LIST_BYTES;
  const over = files.findIndex(({ path, from = '' }, at) => {
    room -= Buffer.byteLength(path) + Buffer.byteLength(from) + 100;
    return room < 0 || at >= MAX_FILES;
  });
  return over < 0 ? [...files] : files.slice(0, over);
};

export const readGitRecord = (bytes: Uint8Array): GitRecord => {
  const texts = createTexts(bytes);
  const files: FileChange[] = [];
  const total = { files: 0, added: 0, deleted: 0 };
  let isWhole = true;
  while (texts.peek() === ':') {
    const entry = readEntry(texts);
    if (typeof entry === 'string') {
      isWhole = false;
      break;
    }
    files.push(entry);
  }
  total.files = files.length;
  let counted = 0;
  while (isWhole && counted < files.length) {
    const counts = readCounts(texts);
    const file = files[counted];
    if (counts === undefined || file === undefined || counts.path !== file.path) {
      isWhole = false;
      break;
    }
    counted += 1;
    Object.assign(file, {
      added: counts.added,
      deleted: counts.deleted,
      binary: counts.added === null,
    });
    total.added += counts.added ?? 0;
    total.deleted += counts.deleted ?? 0;
  }
  // An empty text separates the counts from the patch.
  const hasPatch = isWhole && texts.next()?.length === 0;
  const shown = listed(files);
  return {
    files: shown,
    total,
    patch: hasPatch ? texts.rest() : new Uint8Array(),
    isWholeList: isWhole && shown.length === files.length && (hasPatch || files.length === 0),
  };
};
