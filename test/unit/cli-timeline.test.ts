import { describe, expect, test } from 'vitest';
import { visibleLength } from '../../cli/terminal/columns.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { timelineLines, timelineText } from '../../cli/view/timeline-print.ts';
import { buildTimeline, changesOf, warningsOf } from '../../cli/view/timeline-rows.ts';
import type { TimelineAnswer, TimelineCheckpoint } from '../../contract/checkpoint-answers.ts';
import { whyTaken } from '../../present/checkpoint-words.ts';
import { listedSession } from '../support/listed-session.ts';

const NOW = new Date(2026, 0, 2, 12, 0, 0);
const plain = createPaint(false);

type TimelineRepository = TimelineCheckpoint['repositories'][number];

const repository = (path: string, facts: Partial<TimelineRepository> = {}): TimelineRepository => ({
  path,
  state: 'captured',
  changed: true,
  bundleBytes: 1234,
  commit: null,
  branch: 'main',
  head: null,
  ...facts,
});

const checkpoint = (seq: number, facts: Partial<TimelineCheckpoint> = {}): TimelineCheckpoint => ({
  checkpointId: `cp-${String(seq).padStart(8, '0')}-0badcafe`,
  seq,
  parentSeq: seq === 1 ? null : seq - 1,
  epoch: 1,
  messageId: seq === 1 ? null : `msg-${seq - 1}`,
  toolExecutionId: `call-${seq}`,
  reason: seq === 1 ? 'baseline' : 'before-tool',
  complete: true,
  repositories: [repository('api')],
  failures: [],
  skipped: [],
  sandboxId: 'sandbox',
  detached: false,
  createdAt: new Date(2026, 0, 2, 11, 0, seq).toISOString(),
  onHeadPath: true,
  ...facts,
});

/** One branch that was left behind, and the way to the head. */
const BRANCHED = [
  checkpoint(1),
  checkpoint(2),
  checkpoint(3, { onHeadPath: false }),
  checkpoint(4, { parentSeq: 2 }),
];

test('walkback log tells how another call settled a rollback that nobody had finished', () => {
  const at = NOW.toISOString();
  const timeline: TimelineAnswer = {
    session: listedSession('s', { epoch: 2, headCheckpointId: 'cp-1', createdAt: at, updatedAt: at }),
    messages: [],
    checkpoints: [checkpoint(1)],
  };
  const settledRollback = {
    requestId: 'r-1',
    outcome: 'undone' as const,
    targetCheckpointId: 'cp-1',
    undoCheckpointId: null,
    foundCheckpointId: null,
    kept: [],
    by: 'checkpoint call-2',
    at,
    message: 'Rollback "r-1" was put back.',
  };
  const text = (one: TimelineAnswer) => timelineText(one, { paint: plain, width: 80, now: NOW });
  const settled = { ...timeline, session: { ...timeline.session, settledRollback } };
  expect(text(settled)).toContain('\n! Rollback "r-1" was put back.\n');
  expect(text(timeline)).not.toContain('put back');
  // The command for older ones is of this session, and of the cloud that was asked.
  const { sessionId, seq } = timeline.session;
  const cut = { ...timeline, cursor: 'before-33' };
  expect(timelineText(cut, { paint: plain, width: 80, now: NOW, where: { data: '/d' } })).toContain(
    `older checkpoints: walkback --data /d log --session ${sessionId} --limit ${seq}\n`,
  );
});

describe('the rows of walkback log', () => {
  test('say why a checkpoint was taken', () => {
    expect(whyTaken({ reason: 'baseline', toolExecutionId: 'x' })).toBe('session start');
    expect(whyTaken({ reason: 'before-tool', toolExecutionId: 'call-7' })).toBe('before call-7');
    expect(whyTaken({ reason: 'rollback', toolExecutionId: 'x' })).toBe('undo point');
    expect(whyTaken({ reason: 'nightly', toolExecutionId: 'x' })).toBe('nightly');
  });

  test('name the repositories that changed with the bytes that took', () => {
    const repositories = [repository('api'), repository('web', { changed: false }), repository('docs')];
    expect(changesOf({ reason: 'before-tool', repositories })).toBe('api 1.2 KiB · docs 1.2 KiB');
    expect(changesOf({ reason: 'manual', repositories: [] })).toBe('nothing changed');
  });

  test('name a repository that vanished', () => {
    const repositories = [repository('api', { state: 'absent' })];
    expect(changesOf({ reason: 'before-tool', repositories })).toBe('api removed');
  });

  test('count the repositories and all their bytes at the baseline', () => {
    const repositories = [repository('api', { bundleBytes: 3282 }), repository('web')];
    expect(changesOf({ reason: 'baseline', repositories })).toBe('2 repositories: api, web · 4.4 KiB');
  });

  test('list what an incomplete checkpoint misses, at most three and the number of the others', () => {
    const failures = ['a', 'b', 'c', 'd'].map((path) => ({ path, reason: 'unreadable' }));
    expect(warningsOf({ complete: false, failures })).toEqual([
      'incomplete: a: unreadable',
      'incomplete: b: unreadable',
      'incomplete: c: unreadable',
      'incomplete: 1 more',
    ]);
    expect(warningsOf({ complete: true, failures: [] })).toEqual([]);
    expect(warningsOf({ complete: true, failures: [], halfWritten: true })).toEqual([
      'may be half written, a rollback broke off',
    ]);
  });

  test('mark the head, the way to it, a branch left behind, a review copy and discarded messages', () => {
    const view = buildTimeline(
      {
        session: { headSeq: 4 },
        checkpoints: [...BRANCHED, checkpoint(5, { parentSeq: 2, detached: true, onHeadPath: false })],
        messages: [
          { messageId: 'msg-1', discarded: false },
          { messageId: 'msg-2', discarded: true },
        ],
      },
      NOW,
    );
    expect(view.rows.map(({ shortId, standing, discarded }) => [shortId, standing, discarded])).toEqual([
      ['cp-5', 'copy', false],
      ['cp-4', 'head', false],
      ['cp-3', 'abandoned', true],
      ['cp-2', 'current', false],
      ['cp-1', 'current', false],
    ]);
  });

  test('show control characters of a file name instead of sending them', () => {
    const repositories = [repository('a\u001b[31mb\nc')];
    expect(changesOf({ reason: 'manual', repositories })).toBe('a^[[31mb\\nc 1.2 KiB');
  });
});

describe('the printed tree', () => {
  const timeline = {
    session: { headSeq: 4 },
    checkpoints: BRANCHED,
    messages: [{ messageId: 'msg-2', discarded: true }],
  };

  test('looks like this', () => {
    expect(timelineLines(buildTimeline(timeline, NOW), plain, 80)).toEqual([
      '◉   cp-4  msg-3 11:00:04 before call-4 head',
      '│         api 1.2 KiB',
      '│ ○ cp-3  msg-2 11:00:03 before call-3 discarded',
      '│ │       api 1.2 KiB',
      '├─╯',
      '●   cp-2  msg-1 11:00:02 before call-2',
      '│         api 1.2 KiB',
      '●   cp-1        11:00:01 session start',
      '          1 repository: api · 1.2 KiB',
    ]);
  });

  test('names the call that made a change beside it, and a message where it changed something', () => {
    const tool = (name: string) => ({ tool: { name }, messageId: 'msg-1' });
    const view = buildTimeline(
      {
        session: { headSeq: 4 },
        checkpoints: [
          checkpoint(1),
          checkpoint(2, tool('Edit\u0007')),
          checkpoint(3, tool('Bash')),
          checkpoint(4, { ...tool('Read'), repositories: [repository('api', { changed: false })] }),
        ],
        messages: [
          { messageId: 'msg-1', discarded: false, title: 'Fix it', checkpointId: checkpoint(4).checkpointId },
        ],
      },
      NOW,
    );
    expect(timelineLines(view, plain, 80)).toEqual([
      '◉ cp-4  msg-1 11:00:04 before Read head',
      '│       Bash: nothing changed',
      '● cp-3  msg-1 11:00:03 before Bash',
      '│       “Fix it”',
      '│       Edit^G: api 1.2 KiB',
      '● cp-2  msg-1 11:00:02 before Edit^G',
      '│       api 1.2 KiB',
      '● cp-1        11:00:01 session start',
      '        1 repository: api · 1.2 KiB',
    ]);
  });

  test.each([40, 60, 80, 120])('fits %i columns whatever the names are; a message id is whole', (width) => {
    const messageId = 'm'.repeat(64);
    const long = checkpoint(5, {
      parentSeq: 4,
      messageId,
      toolExecutionId: 't'.repeat(64),
      repositories: Array.from({ length: 9 }, (_, index) => repository(`a-rather-long-名前-${index}`)),
      complete: false,
      failures: [{ path: '路'.repeat(200), reason: 'r'.repeat(200) }],
    });
    const view = buildTimeline({ ...timeline, checkpoints: [...timeline.checkpoints, long] }, NOW);
    const lines = timelineLines(view, plain, width);
    for (const line of lines.filter((one) => !one.includes(messageId))) {
      expect(visibleLength(line)).toBeLessThanOrEqual(width);
    }
    expect(lines.join('\n')).toContain(messageId);
  });
});
