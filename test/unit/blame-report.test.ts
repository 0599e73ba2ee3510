/** What the program in the sandbox says of who wrote a file, as it is read: nothing of it may be believed. */
import { describe, expect, test } from 'vitest';
import { createBlaming } from '../../adapters/git/program/blame.ts';
import type { SandboxProgram } from '../../adapters/git/program/call.ts';
import type { SandboxCommand } from '../../contract/sandbox/requests.ts';
import type { BlameRequest } from '../../core/checkpoint/ports/blame.ts';
import { processSandbox } from '../support/process-sandbox.ts';

const ID = 'a'.repeat(40);

const REQUEST: BlameRequest = {
  sessionId: 's',
  projectsRoot: '/p',
  path: 'api',
  objectFormat: 'sha1',
  file: 'a.txt',
  nodes: [
    { tree: 't1', parents: [], commit: 'h' },
    { tree: null, parents: [0] },
  ],
  bases: ['b1'],
  shallow: false,
  from: 2,
  mostLines: 3,
  maxFileBytes: 10,
  bundles: [],
  timeoutMs: 1,
};

/** A program that answers this, where its report has the shape. */
const answering = (answer: unknown) => {
  const asked: SandboxCommand[] = [];
  const program: SandboxProgram = {
    async call(_, command, schema) {
      asked.push(command);
      return schema.parse(answer);
    },
    run: () => Promise.reject(new Error('nobody calls it')),
  };
  return { asked, ...createBlaming(program) };
};

const blamed = (answer: unknown, more: Partial<BlameRequest> = {}) =>
  answering(answer).blame(processSandbox({}), { ...REQUEST, ...more });

const ours = { node: 1, path: 'a.txt' };
const own = { commit: ID, author: 'Ann', authoredAt: 1_700_000_000, summary: 's', path: 'b.txt' };

const lines = (...sources: number[]) => ({
  kind: 'lines',
  total: 4,
  lines: sources.map((source, at) => ({ text: 'x', source, lineThere: at })),
  sources: [ours, own],
  ownCommits: [ID],
});

test('what is asked names what was not there', async () => {
  const { asked, blame } = answering({ kind: 'link' });
  await blame(processSandbox({}), REQUEST);
  expect(asked).toMatchObject([
    {
      kind: 'blame',
      to: null,
      nodes: [
        { tree: 't1', parents: [], commit: 'h' },
        { tree: null, parents: [0], commit: null },
      ],
      bundles: [],
    },
  ]);
});

describe('a report', () => {
  test.each(['directory', 'link', 'submodule', 'binary'])('says what is there: %s', async (kind) => {
    expect(await blamed({ kind })).toEqual({ kind });
  });

  test('says what is missing, how large it is, and who removed it', async () => {
    for (const answer of [
      { kind: 'missing', nodes: [1], bases: [ID] },
      { kind: 'too-large', sizeBytes: 11 },
      { kind: 'absent' },
      { kind: 'absent', removedBy: ours },
    ])
      expect(await blamed(answer)).toEqual(answer);
  });

  test('of a commit has its date, and no more of its words than a person reads', async () => {
    const summary = 's'.repeat(1000);
    const removedBy = { ...own, summary, authoredAt: Number.MAX_SAFE_INTEGER };
    const report = await blamed({ kind: 'absent', removedBy });
    expect(report).toMatchObject({ removedBy: { authoredAt: '1970-01-01T00:00:00.000Z' } });
    expect(JSON.stringify(report).length).toBeLessThan(500);
    expect(await blamed(lines(0, 1))).toEqual({
      ...lines(0, 1),
      sources: [ours, { ...own, authoredAt: '2023-11-14T22:13:20.000Z' }],
    });
  });

  test.each([
    ['a capture that was not asked about', { ...lines(0), sources: [{ node: 2, path: 'a' }] }, {}],
    ['a missing capture that was not asked about', { kind: 'missing', nodes: [2], bases: [] }, {}],
    ['a removal by one', { kind: 'absent', removedBy: { node: 2, path: 'a' } }, {}],
    ['a line of nobody', lines(0, 2), {}],
    ['more lines than the file has', lines(0, 0, 0, 0), {}],
    ['more lines than were asked for', lines(0, 0), { to: 2 }],
    ['more lines than there is room for', lines(0, 0), { mostLines: 1 }],
  ] as const)('of %s is not believed', async (_, answer, more) => {
    await expect(blamed(answer, more)).rejects.toMatchObject({ name: 'SandboxUnavailable', retryable: true });
  });
});

test('only repositories that were asked about have a file', async () => {
  const trees = ['api', 'web'].map((path) => ({ path, tree: ID }));
  const { findFile } = answering({ paths: ['web', 'other'] });
  const request = { sessionId: 's', projectsRoot: '/p', file: 'a', trees, timeoutMs: 1 };
  expect(await findFile(processSandbox({}), request)).toEqual(['web']);
});
