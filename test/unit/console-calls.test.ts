/** What a message did, call by call: each diff stands under the call that made it. */
import { expect, test } from 'vitest';
import type { CheckpointChanges } from '../../contract/change-answers.ts';
import { made, NASTY, NO_SAGA, session } from '../support/console-in-process.ts';

const call = (name: string, input: string) => ({ name, input, truncated: false });
const patch = (file: string, ...lines: string[]): string =>
  `diff --git a/api/${file} b/api/${file}\n--- a/api/${file}\n+++ b/api/${file}\n@@ -1 +1 @@\n${lines.join('\n')}\n`;

const change = (seq: number, more: Partial<CheckpointChanges>): CheckpointChanges => ({
  checkpointId: `cp-0000000${seq}-0123abcd`,
  seq,
  parentCheckpointId: null,
  messageId: 'm1',
  reason: 'before-tool',
  createdAt: '2026-01-02T10:00:00.000Z',
  repositories: [],
  warnings: [],
  ...more,
});

const changed = (text: string, files: string[]): Pick<CheckpointChanges, 'repositories'> => ({
  repositories: [
    {
      path: 'api',
      change: 'changed',
      counts: { files: 1, added: 1, deleted: 1 },
      files: files.map((path) => ({ path, change: 'modified', added: 1, deleted: 1, binary: false })),
      patch: text,
      truncated: false,
    },
  ],
});

const page = async (checkpoints: CheckpointChanges[], headSeq = 9): Promise<string> => {
  const { fetchPage, enter } = made({
    timeline: () => ({
      session: { ...session('s'), headSeq },
      messages: [{ messageId: 'm1', order: 1, checkpointId: 'cp-00000002-0123abcd', discarded: false }],
      checkpoints: [],
    }),
    changes: () => ({ sessionId: 's', checkpoints }),
    ...NO_SAGA,
  });
  const { cookie } = await enter();
  return (await fetchPage('/sessions/s?message=m1', { headers: { cookie } })).text();
};

/** The titles of the rows, and the lines and inputs below each. */
const rows = (text: string): string[] =>
  text
    .split(/<(?:section|details) class="call/)
    .slice(1)
    .map((row) =>
      row
        .replace(/<\/section>\s*<\/div><\/div>.*$/s, '')
        .replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, ' ')
        .replaceAll(/\s+/g, ' '),
    );

test('a diff and the input of its call stand together, and calls that changed nothing are folded', async () => {
  const [edit, bash] = [
    call('Edit', '{"file_path":"api/a.ts","text":"one\\ntwo"}'),
    call('Bash', '{"command":"npm test"}'),
  ];
  const told = await page([
    change(2, { message: { role: 'user', text: 'Please.', truncated: false }, tool: edit }),
    change(3, { madeBy: edit, tool: bash, ...changed(patch('a.ts', '-old', '+new'), ['a.ts']) }),
    change(4, { madeBy: bash, tool: call('Read', '{"path":"b.ts"}') }),
    change(5, { madeBy: call('Read', '{"path":"b.ts"}'), tool: edit }),
    change(6, { madeBy: edit, ...changed(patch('a.ts', '-new', '+newer'), ['a.ts']) }),
  ]);
  const [first = '', quiet = '', last = '', ...more] = rows(told);
  expect(more).toEqual([]);
  expect(first).toMatch(/Edit api\/a\.ts .*Input of Edit .*file_path api\/a\.ts text one two .*old.*new/);
  expect(quiet).toMatch(/2 calls changed no file: Bash , Read Bash npm test Read b\.ts/);
  expect(last).toMatch(/Edit api\/a\.ts .*newer/);
  expect(told.match(/Please\./g)).toHaveLength(1);
  // The file is once in the tree, which leads to its first diff.
  expect(told.match(/class="leaf"/g)).toHaveLength(1);
  expect(told).toContain('href="#file-1"');
  expect(told).toContain('id="file-2"');
});

test('changes that no call made say so, and what the last call changes is not known yet', async () => {
  const bash = call('Bash', '{"command":"npm test"}');
  const of = changed(patch('a.ts', '-old', '+new'), ['a.ts']);
  const pending = rows(await page([change(9, { ...of, tool: bash, forMessageId: 'm1' })]));
  expect(pending[0]).toContain('Changed outside a recorded tool call');
  expect(pending[1]).toContain('Bash npm test');
  expect(pending[1]).toContain('What this call changes is in the next checkpoint.');
  // It is the call of another message, or its work is in a checkpoint by now.
  expect(rows(await page([change(9, { ...of, tool: bash, forMessageId: 'm2' })]))).toHaveLength(1);
  expect(rows(await page([change(8, { ...of, tool: bash, forMessageId: 'm1' })]))).toHaveLength(1);
  expect(rows(await page([change(8, { ...of, reason: 'revert' })]))[0]).toContain('took back one message');
});

test('the lines of a file that is gone are folded', async () => {
  const gone = `diff --git a/api/old.ts b/api/old.ts\ndeleted file mode 100644\n--- a/api/old.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n`;
  const told = await page([change(3, changed(`${gone}${patch('b.ts', '-b', '+c')}`, ['old.ts', 'b.ts']))]);
  expect(told).toMatch(/id="file-1"[^>]*><details><summary>/);
  expect(told).toMatch(/id="file-2"[^>]*><details open><summary>/);
});

test('a name of a tool, a path and an input are text', async () => {
  const nasty = call(NASTY, JSON.stringify({ command: `${NASTY}\n${NASTY}` }));
  const told = await page(
    [
      change(3, { madeBy: nasty, ...changed(patch(NASTY, '-a', `+${NASTY}`), [NASTY]) }),
      change(4, { madeBy: nasty, tool: nasty, forMessageId: 'm1' }),
    ],
    4,
  );
  expect(told).not.toContain('<img');
  expect(told).not.toContain('\u202e');
  expect(told).not.toContain('\u0007');
});

test.each([
  ['/home/me/forks/f', /<dt>Files<\/dt><dd><bdi[^>]*>\/home\/me\/forks\/f</],
  [undefined, /<dt>Files inside its sandbox<\/dt><dd><bdi[^>]*>\/work</],
])('the page of a fork shows where its files are: %s', async (directory, shown) => {
  const asked: string[][] = [];
  const fork = {
    ...session('s'),
    projectsRoot: '/work',
    forkedFrom: { sessionId: 'origin', checkpointId: 'cp-00000002-0123abcd' },
  };
  const { fetchPage, enter } = made(
    { timeline: () => ({ session: fork, messages: [], checkpoints: [] }), ...NO_SAGA },
    {
      directoryOf: async (...of) => {
        asked.push(of);
        return directory;
      },
    },
  );
  const { cookie } = await enter();
  expect(await (await fetchPage('/sessions/s', { headers: { cookie } })).text()).toMatch(shown);
  expect(asked).toEqual([['sb', '/work']]);
});

test('the page of a session says how far long work is', async () => {
  const progress = {
    doing: 'files',
    done: 1_200,
    of: 90_000,
    startedAt: '2026-01-02T10:00:00.000Z',
    at: '2026-01-02T10:00:05.000Z',
  };
  const answers = {
    timeline: () => ({ session: session('s'), messages: [], checkpoints: [] }),
    ...NO_SAGA,
  };
  const textWith = async (more: object): Promise<string> => {
    const { fetchPage, enter } = made({ ...answers, ...more });
    const { cookie } = await enter();
    return (await fetchPage('/sessions/s', { headers: { cookie } })).text();
  };
  expect(await textWith({ progress: () => ({ progress }) })).toContain(
    'At work: 1,200 of 90,000 files read.',
  );
  expect(await textWith({})).not.toContain('At work');
});
