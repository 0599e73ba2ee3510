/** What `git blame --porcelain` and the command around it wrote. It comes from the sandbox, so nothing of it is trusted (C10). Pure. */
import type { BlamedBy, BlamedLine, BlameReport, BlameRequest } from '../../core/checkpoint/ports/blame.ts';
import { clip } from '../../core/shared/clip.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { OBJECT_ID_PATTERN } from '../../core/shared/ids.ts';
import { soughtIds } from './blame-command.ts';
import { decodeName } from './names.ts';
import { all, type CommandOutput, value } from './output.ts';

/** Characters of what a commit says. */
const MOST_SAID = 256;

const NEWLINE = 10;
const TAB = 9;

const unreadable = (why: string): WalkbackError =>
  new WalkbackError('SandboxUnavailable', `The sandbox did not say who wrote the file: ${why}. Call again.`, {
    retryable: true,
  });

const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/** git writes a name with other than plain characters in quotes, by bytes. */
export const unquoted = (name: Uint8Array): string => {
  const latin = Buffer.from(name).toString('latin1');
  if (!latin.startsWith('"')) return decodeName(name);
  const bytes = latin
    .slice(1, -1)
    .replace(/\\([0-3][0-7]{2}|[abtnvfr"\\])/g, (_, code: string) =>
      String.fromCharCode(ESCAPES[code] ?? Number.parseInt(code, 8)),
    );
  return decodeName(Buffer.from(bytes, 'latin1'));
};

type Facts = Map<string, Uint8Array>;

const isoTime = (seconds: string): string => {
  const at = new Date(Number(seconds) * 1000);
  return Number.isNaN(at.getTime()) ? new Date(0).toISOString() : at.toISOString();
};

/** A commit of ours by its address, any other is one of the repository. */
const sourceOf = (
  id: string,
  said: { mail: string; author: string; authoredAt: string; summary: string; path: string },
  { nonce, nodes }: { nonce: string; nodes: number },
): BlamedBy => {
  const { mail, author, authoredAt, summary, path } = said;
  if (mail !== nonce)
    return {
      commit: id,
      author: clip(author, MOST_SAID),
      authoredAt,
      summary: clip(summary, MOST_SAID),
      path,
    };
  const node = /^\d{1,9}$/.test(author) ? Number(author) : nodes;
  if (node >= nodes) throw unreadable('it names a capture that was not asked about');
  return { node, path };
};

const fromFacts = (id: string, facts: Facts, ours: { nonce: string; nodes: number }): BlamedBy => {
  const read = (name: string): string => text(facts.get(name) ?? new Uint8Array());
  return sourceOf(
    id,
    {
      mail: read('author-mail').replace(/^<|>$/g, ''),
      author: read('author'),
      authoredAt: isoTime(read('author-time')),
      summary: read('summary'),
      path: unquoted(facts.get('filename') ?? new Uint8Array()),
    },
    ours,
  );
};

const HEADER = /^([0-9a-f]{40}|[0-9a-f]{64}) (\d+) (\d+)(?: \d+)?$/;

interface ReadLines {
  sources: BlamedBy[];
  lines: BlamedLine[];
}

/** The lines in their order, from `first` on. A commit is described once, but its file may have several names. */
export const readPorcelain = (
  output: Uint8Array,
  first: number,
  ours: { nonce: string; nodes: number },
): ReadLines => {
  const bytes = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const commits = new Map<string, Facts>();
  const places = new Map<string, number>();
  const sources: BlamedBy[] = [];
  const lines: BlamedLine[] = [];
  let at = 0;
  const next = (): Buffer => {
    const end = bytes.indexOf(NEWLINE, at);
    if (end < 0) throw unreadable('its answer is not whole');
    const line = bytes.subarray(at, end);
    at = end + 1;
    return line;
  };
  while (at < bytes.length) {
    const [, id = '', there = '', here = ''] = HEADER.exec(next().toString('latin1')) ?? [];
    if (Number(here) !== first + lines.length) throw unreadable('its answer is not whole');
    const facts: Facts = new Map(commits.get(id));
    let line = next();
    for (; line[0] !== TAB; line = next()) {
      const space = line.indexOf(' ');
      const end = space < 0 ? line.length : space;
      facts.set(line.subarray(0, end).toString('latin1'), line.subarray(end + 1));
    }
    commits.set(id, facts);
    const key = `${id} ${facts.get('filename')?.toString() ?? ''}`;
    let source = places.get(key);
    if (source === undefined) {
      source = sources.push(fromFacts(id, facts, ours)) - 1;
      places.set(key, source);
    }
    lines.push({ text: text(line.subarray(1)), source, lineThere: Number(there) });
  }
  return { sources, lines };
};

/** ID, address, author, time and summary of the commit that removed the file. */
const removal = (
  rest: Uint8Array,
  file: string,
  ours: { nonce: string; nodes: number },
): BlamedBy | undefined => {
  const [id = '', mail = '', author = '', when = '', summary = ''] = text(rest)
    .replace(/\n$/, '')
    .split('\0');
  if (!OBJECT_ID_PATTERN.test(id)) return undefined;
  const authoredAt = isoTime(String(Date.parse(when) / 1000));
  return sourceOf(id, { mail, author, authoredAt, summary, path: file }, ours);
};

const isMissing = (line: string | undefined, id: string, type: string): boolean => line !== `${id} ${type}`;

const missingReport = (rest: Uint8Array, request: BlameRequest): BlameReport => {
  const { trees, own, bases } = soughtIds(request);
  const found = Buffer.from(rest).toString('latin1').split('\n');
  const lost = new Set(trees.filter((id, at) => isMissing(found[at], id, 'tree')));
  const isThere = (at: number, id: string): boolean =>
    !isMissing(found[trees.length + own.length + at], id, 'commit');
  return {
    kind: 'missing',
    nodes: request.nodes.flatMap(({ tree }, at) => (tree !== null && lost.has(tree) ? [at] : [])),
    bases: bases.filter((id, at) => isThere(at, id)),
  };
};

/** What git says when it lacks an object (sandbox/src/read/diff.rs). */
const LACKS_OBJECT =
  /bad object|unable to read|not a tree|bad tree|[Cc]ould not read|cannot read|missing|not found|corrupt|parse commit/;

export const blameReport = (
  { pairs, rest }: Pick<CommandOutput, 'pairs' | 'rest'>,
  request: BlameRequest,
  nonce: string,
): BlameReport => {
  const ours = { nonce, nodes: request.nodes.length };
  const said = value(pairs, 'failed');
  if (said !== undefined) {
    if (!LACKS_OBJECT.test(said))
      throw unreadable(said.trim().slice(0, 400) || 'git failed and said nothing');
    return { kind: 'missing', nodes: [...request.nodes.keys()], bases: [] };
  }
  const entry = value(pairs, 'entry');
  switch (entry) {
    case 'missing':
      return missingReport(rest, request);
    case 'absent': {
      const removedBy = removal(rest, request.file, ours);
      return { kind: 'absent', ...(removedBy && { removedBy }) };
    }
    case 'directory':
    case 'link':
    case 'submodule':
    case 'binary':
      return { kind: entry };
    case 'too-large':
      return { kind: 'too-large', sizeBytes: Number(value(pairs, 'size')) };
    case 'lines': {
      const total = Number(value(pairs, 'total'));
      const read = readPorcelain(rest, request.from, ours);
      const most = Math.min(request.mostLines, Math.max(0, (request.to ?? total) - request.from + 1));
      if (!Number.isSafeInteger(total) || read.lines.length > most)
        throw unreadable('its answer has other lines');
      const ownCommits = (value(pairs, 'own') ?? '').split(' ').filter((id) => OBJECT_ID_PATTERN.test(id));
      return { kind: 'lines', total, ...read, ownCommits };
    }
    default:
      throw unreadable('its answer is not whole');
  }
};

/** Of each repository that was asked about, in their order. */
export const foundFiles = (pairs: CommandOutput['pairs'], paths: readonly string[]): string[] => {
  const modes = all(pairs, 'entry');
  return paths.filter((_, at) => {
    const mode = modes[at] ?? '-';
    return mode !== '-' && mode !== '040000';
  });
};
