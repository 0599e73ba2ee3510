import { expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { timelineLines } from '../../cli/view/timeline-print.ts';
import { buildTimeline } from '../../cli/view/timeline-rows.ts';
import type { CheckpointChanges } from '../../contract/change-answers.ts';
import type { TimelineCheckpoint } from '../../contract/checkpoint-answers.ts';
import { hostLines } from '../../present/host-lines.ts';
import { runCommand } from '../support/recording-app.ts';

const ID = 'cp-00000002-0badcafe';

const CHECKPOINT: CheckpointChanges = {
  checkpointId: ID,
  seq: 2,
  parentCheckpointId: 'cp-00000001-0badcafe',
  messageId: 'msg-1',
  reason: 'before-tool',
  createdAt: '2026-01-02T10:00:00Z',
  message: { role: 'user', title: 'Fix it', text: 'Fix it\n\u001b[2Jplease', truncated: true },
  madeBy: { name: 'Write', input: '{"content":"a\\nb","file_path":"a.ts"}', truncated: false },
  tool: { name: 'Bash', input: '{"command":"npm test\\nnpm run lint"}', truncated: false },
  repositories: [
    {
      path: 'api',
      change: 'changed',
      counts: { files: 3, added: 4, deleted: 1 },
      files: [
        { path: 'a.ts', change: 'modified', added: 4, deleted: 1, binary: false },
        { path: 'b.png', change: 'added', added: null, deleted: null, binary: true },
        {
          path: 'run',
          from: 'walk',
          change: 'renamed',
          added: 0,
          deleted: 0,
          binary: false,
          mode: { from: '100644', to: '100755' },
        },
      ],
      host: {
        head: {
          from: { kind: 'branch', branch: 'main', commit: 'a'.repeat(40) },
          to: { kind: 'branch', branch: 'main', commit: 'b'.repeat(40) },
          commitsMade: 2,
        },
        branches: [],
      },
      patch: 'diff --git a/api/a.ts b/api/a.ts\n@@ -1 +1 @@\n-old\n+new \u001b[31m\n',
      truncated: true,
    },
    {
      path: 'web',
      change: 'removed',
      counts: null,
      files: [],
      patch: '',
      truncated: false,
      note: 'gone\u0007',
    },
  ],
  warnings: ['the changes of 3 more repositories are not kept'],
};

test('walkback changes asks for a checkpoint, follows pages, and shows what it was told', async () => {
  const pages = [
    { sessionId: 's', checkpoints: [CHECKPOINT], cursor: 'after-2' },
    { sessionId: 's', checkpoints: [{ ...CHECKPOINT, seq: 3, repositories: [] }] },
  ];
  const { calls, stdout, failure } = await runCommand(
    ['changes', 'msg-1', '-s', 's', '--repository', 'api'],
    {
      answers: { 'walkback-changes': () => pages.shift() },
    },
  );
  expect(failure).toBeUndefined();
  const asked = { sessionId: 's', messageId: 'msg-1', path: 'api' };
  expect(calls.map(({ input }) => input)).toEqual([asked, { ...asked, cursor: 'after-2' }]);
  for (const text of [
    `cp-2 ${ID} of msg-1`,
    'user: Fix it',
    // Above what it changed, and not what comes next.
    '  Write a.ts\n  api  3 files +4 -1',
    'next: Bash npm test …',
    '! the changes of 3 more repositories are not kept',
    'api  3 files +4 -1',
    'HEAD: main (aaaaaaaaa) to main (bbbbbbbbb); 2 commits come with it',
    'M a.ts   +4 -1',
    'A b.png  not text, or over 4 MiB',
    'R run    +0 -0 mode 100644 to 100755 (was walk)',
    '+new ',
    'web removed',
    '… cut here',
    'nothing changed',
  ])
    expect(stdout).toContain(text);
  // Nothing of it moves the terminal.
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toContain('\u0007');
});

test('--stat leaves the patch out, and --json has all of it', async () => {
  const answers = { 'walkback-changes': { sessionId: 's', checkpoints: [CHECKPOINT] } };
  const short = await runCommand(['changes', ID, '-s', 's', '--stat'], { answers });
  expect(short.calls[0]?.input).toEqual({ sessionId: 's', checkpointId: ID });
  expect(short.stdout).toContain('a.ts');
  expect(short.stdout).not.toContain('+new');
  const { stdout } = await runCommand(['changes', ID, '-s', 's', '--json'], { answers });
  expect(JSON.parse(stdout)).toEqual(answers['walkback-changes']);
});

test('walkback log shows titles at the last checkpoint of a message, tools by name, and lines', () => {
  const repository = {
    state: 'captured' as const,
    changed: true,
    bundleBytes: 2048,
    commit: null,
    branch: 'main',
    head: null,
  };
  const checkpoint = (seq: number, more: Partial<TimelineCheckpoint>): TimelineCheckpoint => ({
    checkpointId: `cp-${seq}`,
    seq,
    parentSeq: seq === 1 ? null : seq - 1,
    epoch: 1,
    messageId: 'msg-1',
    toolExecutionId: `call-${seq}`,
    reason: 'before-tool',
    complete: true,
    failures: [],
    skipped: [],
    sandboxId: 'x',
    detached: false,
    onHeadPath: true,
    createdAt: '2026-01-02T10:00:00Z',
    repositories: [],
    ...more,
  });
  const view = buildTimeline(
    {
      session: { headSeq: 2 },
      checkpoints: [
        checkpoint(2, {
          tool: { name: 'Bash' },
          repositories: [
            { ...repository, path: 'api', changes: { files: 1, added: 3, deleted: 1 } },
            { ...repository, path: 'old' },
            { ...repository, path: 'wide', changes: { files: 9, added: null, deleted: null } },
          ],
        }),
        checkpoint(1, {}),
      ],
      messages: [{ messageId: 'msg-1', discarded: false, title: 'Fix \u001b[2Jit', checkpointId: 'cp-2' }],
    },
    new Date('2026-01-02T11:00:00Z'),
  );
  const text = timelineLines(view, createPaint(false), 100).join('\n');
  expect(text).toContain('before Bash');
  expect(text).toContain('api +3 -1 · old 2.0 KiB · wide 2.0 KiB');
  expect(text.match(/“Fix .*it”/g)).toHaveLength(1);
  expect(text).not.toContain('\u001b');
});

test.each([
  [10, undefined, undefined],
  [12, undefined, 'and 2 more branches'],
  [200, 1300, 'and 1490 more branches'],
  [3, 1, 'and 1 more branch'],
])(
  'of %i branches that are told, and %s that are only counted, a person reads the first',
  (told, branchesLeft, last) => {
    const branches = Array.from({ length: told }, (_, n) => ({
      name: `b${n}`,
      from: null,
      to: 'a'.repeat(40),
      commitsLeft: 0,
    }));
    const lines = hostLines({ branches, ...(branchesLeft !== undefined && { branchesLeft }) });
    expect(lines.filter((line) => line.startsWith('branch '))).toHaveLength(Math.min(told, 10));
    expect(lines.find((line) => line.startsWith('and '))).toBe(last);
  },
);
