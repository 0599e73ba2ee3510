/** What git and the command around it wrote about a file, as it is read: bytes, names in quotes, and answers that nobody may believe. */
import { describe, expect, test } from 'vitest';
import { historyOf } from '../../adapters/git/blame-command.ts';
import { blameReport, readPorcelain, unquoted } from '../../adapters/git/blame-output.ts';
import type { BlameRequest } from '../../core/checkpoint/ports/blame.ts';

const OURS = { nonce: 'nonce', nodes: 3 };
const ID = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

const facts = (author: string, mail: string, file = 'a.txt', summary = 's'): string =>
  `author ${author}\nauthor-mail <${mail}>\nauthor-time 1700000000\nauthor-tz +0100\nsummary ${summary}\nfilename ${file}\n`;

const read = (text: string, first = 1) => readPorcelain(Buffer.from(text, 'latin1'), first, OURS);

describe('lines of git', () => {
  test('are of our commits by their address, and of the repository otherwise', () => {
    const { lines, sources } = read(
      `${ID} 4 1 2\n${facts('2', 'nonce')}\tone\n${ID} 5 2\n\ttwo\n${OTHER} 9 3 1\n${facts('2', 'nonce@x', '"\\303\\274\\".txt"')}boundary\n\tthree\n`,
    );
    expect(sources).toEqual([
      { node: 2, path: 'a.txt' },
      { commit: OTHER, author: '2', authoredAt: '2023-11-14T22:13:20.000Z', summary: 's', path: 'ü".txt' },
    ]);
    expect(lines).toEqual([
      { text: 'one', source: 0, lineThere: 4 },
      { text: 'two', source: 0, lineThere: 5 },
      { text: 'three', source: 1, lineThere: 9 },
    ]);
  });

  test('of one commit under two names are told as both', () => {
    const { lines, sources } = read(
      `${ID} 1 1 1\n${facts('1', 'nonce')}\tx\n${ID} 1 2 1\nfilename b.txt\n\ty\n${ID} 2 3 1\nfilename a.txt\n\tz\n`,
    );
    expect(sources).toEqual([
      { node: 1, path: 'a.txt' },
      { node: 1, path: 'b.txt' },
    ]);
    expect(lines.map(({ source }) => source)).toEqual([0, 1, 0]);
  });

  test('may have any bytes, and look like what git writes itself', () => {
    const { lines } = read(
      `${ID} 1 7 2\n${facts('1', 'nonce')}\t\tauthor x\xff\r\n${ID} 2 8\n\t${OTHER} 1 1 1\n`,
      7,
    );
    expect(lines.map(({ text }) => text)).toEqual(['\tauthor x\ufffd\r', `${OTHER} 1 1 1`]);
  });

  test.each([
    ['that end in the middle', `${ID} 1 1 1\n${facts('1', 'nonce')}\tx`],
    ['that skip one', `${ID} 1 2 1\n${facts('1', 'nonce')}\tx\n`],
    ['that are something else', 'fatal: no\n'],
    ['of a capture that was not asked about', `${ID} 1 1 1\n${facts('3', 'nonce')}\tx\n`],
    ['of no capture', `${ID} 1 1 1\n${facts('-1', 'nonce')}\tx\n`],
  ])('%s are not believed', (_, text) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ name: 'SandboxUnavailable', retryable: true }),
    );
  });
});

test('names in quotes are bytes', () => {
  expect(unquoted(Buffer.from('"a\\tb\\n\\\\\\377"'))).toBe('a\tb\n\\\\xff');
  expect(unquoted(Buffer.from('plain'))).toBe('plain');
});

test('the history has a commit for each state, and none stands on what is not its parent', () => {
  const text = historyOf(
    [
      { tree: 'T0', parents: [], commit: 'HEAD0' },
      { tree: 'T1', parents: [0] },
      { tree: 'T2', parents: [0] },
      { tree: 'T3', parents: [1, 2] },
      { tree: null, parents: [3] },
    ],
    'nonce',
  );
  const commits = text.split('reset refs/heads/b\n').slice(1);
  expect(
    commits.map((one) => one.split('\n').filter((line) => /^(from|merge|M |deleteall|%own)/.test(line))),
  ).toEqual([
    ['%own HEAD0', 'M 040000 T0 ""'],
    ['from :1', 'M 040000 T1 ""'],
    ['from :1', 'M 040000 T2 ""'],
    ['from :2', 'merge :3', 'M 040000 T3 ""'],
    ['from :4', 'deleteall'],
  ]);
});

describe('the report', () => {
  const request: BlameRequest = {
    sessionId: 's',
    projectsRoot: '/p',
    path: 'api',
    objectFormat: 'sha1',
    file: 'a.txt',
    nodes: [
      { tree: 't1', parents: [], commit: 'h' },
      { tree: 't2', parents: [0] },
    ],
    bases: ['b1', 'b2'],
    shallow: false,
    from: 1,
    mostLines: 10,
    maxFileBytes: 10,
    bundles: [],
    timeoutMs: 1,
  };
  const report = (pairs: [string, string][], rest = '') =>
    blameReport({ pairs, rest: Buffer.from(rest, 'latin1') }, request, 'nonce');

  test('says which captures and which bases are there', () => {
    expect(report([['entry', 'missing']], 't1 tree\nt2 missing\nh commit\nb1 missing\nb2 commit\n')).toEqual({
      kind: 'missing',
      nodes: [1],
      bases: ['b2'],
    });
    expect(report([['failed', `fatal: unable to read tree (${ID})`]])).toEqual({
      kind: 'missing',
      nodes: [0, 1],
      bases: [],
    });
  });

  test('says who removed a file', () => {
    expect(report([['entry', 'absent']])).toEqual({ kind: 'absent' });
    const when = '2026-01-01T01:00:00+01:00';
    expect(report([['entry', 'absent']], `${[ID, 'nonce', '1', when, ''].join('\0')}\n`)).toEqual({
      kind: 'absent',
      removedBy: { node: 1, path: 'a.txt' },
    });
    expect(report([['entry', 'absent']], `${ID}\0o@x\0Ann\0${when}\0Tidy\n`)).toEqual({
      kind: 'absent',
      removedBy: {
        commit: ID,
        author: 'Ann',
        authoredAt: '2026-01-01T00:00:00.000Z',
        summary: 'Tidy',
        path: 'a.txt',
      },
    });
  });

  test.each([
    ['another kind of answer', [['entry', 'else']], ''],
    [
      'more lines than were asked for',
      [
        ['entry', 'lines'],
        ['total', '0'],
      ],
      `${ID} 1 1 1\n${facts('1', 'nonce')}\tx\n`,
    ],
    [
      'no number of lines',
      [
        ['entry', 'lines'],
        ['total', 'x'],
      ],
      '',
    ],
    ['an error of git that is none of objects', [['failed', 'fatal: out of memory']], ''],
  ] as const)('%s is not believed', (_, pairs, rest) => {
    expect(() =>
      report(
        pairs.map(([key, text]) => [key, text]),
        rest,
      ),
    ).toThrow(expect.objectContaining({ name: 'SandboxUnavailable' }));
  });
});
