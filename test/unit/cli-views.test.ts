import { beforeAll, describe, expect, test } from 'vitest';
import { prepareColumns, visibleLength } from '../../cli/terminal/columns.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { takenCheckpoint } from '../../cli/view/checkpoint-view.ts';
import { diffText } from '../../cli/view/diff-view.ts';
import { rehydratedSession } from '../../cli/view/rehydrate-view.ts';
import { appliedRollback, restoredRows } from '../../cli/view/rollback-view.ts';
import { sessionRows, sessionTable, startedSession } from '../../cli/view/session-views.ts';
import type { ListedSession } from '../../contract/checkpoint-answers.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { listedSession } from '../support/listed-session.ts';

// As before an answer is laid out.
beforeAll(() => prepareColumns('日'));

const paint = createPaint(false);
const NOW = new Date(2026, 0, 2, 12);

const session = (facts: Partial<ListedSession>): ListedSession =>
  listedSession('shop-3fa2c1d0', {
    headSeq: 3,
    seq: 4,
    projectsRoot: '/home/me/work',
    updatedAt: new Date(2026, 0, 1, 9, 30).toISOString(),
    ...facts,
  });

const rollback = (facts: Partial<RollbackAnswer>): RollbackAnswer => ({
  status: 'APPLIED',
  checkpointId: 'cp-00000002-0badcafe',
  epoch: 2,
  undoCheckpointId: 'cp-00000005-0badcafe',
  repositories: [
    { path: 'api', written: 2, deleted: 1, action: 'restored' },
    { path: 'old', written: 0, deleted: 3, action: 'parked' },
    { path: 'web', written: 0, deleted: 0, action: 'unchanged' },
  ],
  discardedMessageIds: ['msg-3', 'msg-4'],
  trimAfterMessageId: 'msg-2',
  warnings: [],
  ...facts,
});

describe('the list of sessions', () => {
  test('has one row each', () => {
    expect(sessionRows([session({})], 80, NOW)).toEqual([
      ['shop-3fa2c1d0', 'active', 'cp-4', '2026-01-01 09:30', '/home/me/work'],
    ]);
  });

  test('keeps the end of a long root, and fits 80 columns', () => {
    const long = session({ sessionId: 's'.repeat(31), projectsRoot: `/${'deep/'.repeat(30)}work` });
    const lines = sessionTable([long], paint, 80, NOW).split('\n');
    expect(lines[1]).toMatch(/…[a-z/]*\/work$/);
    for (const line of lines) expect(visibleLength(line)).toBeLessThanOrEqual(80);
  });

  test('never cuts an id, which is what other commands take', () => {
    const sessionId = `claude-${'0123456789ab'.repeat(3)}`;
    expect(sessionTable([session({ sessionId })], paint, 40, NOW)).toContain(`${sessionId} `);
  });

  test('says how to begin when it is empty', () => {
    expect(sessionTable([], paint, 80, NOW)).toContain('walkback session start --root DIR');
  });
});

describe('a rollback', () => {
  test('has one row per repository', () => {
    expect(restoredRows(rollback({}).repositories)).toEqual([
      ['api', 'restored', '2 written, 1 deleted'],
      ['old', 'set aside', '0 written, 3 deleted'],
      ['web', 'as it is', ''],
    ]);
  });

  test('ends with the command that undoes it, unless there is nothing to undo', () => {
    const commandTo = (id: string): string => `walkback rollback --session s --to ${id}`;
    const facts = { to: 'msg-2', commandTo, paint, width: 80 };
    const back = 'walkback undo --session s';
    expect(appliedRollback(rollback({ undoCheckpointId: 'x' }), { ...facts, back })).toMatch(
      /left behind 2 messages: msg-3, msg-4\n.*goes on after msg-2\n\nundo {2}walkback undo --session s\n$/,
    );
    const labelOf = (id: string) => `“text of ${id}”`;
    expect(appliedRollback(rollback({}), { ...facts, labelOf })).toMatch(
      /left behind 2 messages: “text of msg-3”, “text of msg-4”\n.*goes on after “text of msg-2”/,
    );
    const nothing = rollback({ undoCheckpointId: null, discardedMessageIds: [], trimAfterMessageId: null });
    expect(appliedRollback(nothing, facts)).not.toContain('undo');
    const late = rollback({ lateWrites: { checkpointId: 'cp-9', files: ['api/late.ts'] } });
    expect(appliedRollback(late, facts)).toContain(
      'bring them back with  walkback rollback --session s --to cp-9\n',
    );
  });
});

describe('a checkpoint', () => {
  test('says what it misses and what was left out', () => {
    const text = takenCheckpoint(
      {
        checkpointId: 'cp-00000003-0badcafe',
        seq: 3,
        epoch: 1,
        messageId: 'msg-1',
        complete: false,
        repositories: [{ path: 'api', commit: null, changed: false, bundleBytes: 0 }],
        failures: [{ path: 'api', reason: 'its index is damaged' }],
        skipped: [{ path: 'web/big.iso', reason: 'over the size limit', sizeBytes: 3 * 1024 ** 3 }],
      },
      paint,
    );
    expect(text).toBe(
      '! cp-3 cp-00000003-0badcafe of msg-1: nothing changed incomplete:\n' +
        '  missing  api: its index is damaged\n' +
        '  left out  web/big.iso (3.0 GiB): over the size limit\n',
    );
  });
});

describe('a diff', () => {
  const repository = { path: 'api', diff: '', truncated: false, files: 0, added: 0, deleted: 0 };
  test('says when nothing differs, and what it could not compare', () => {
    expect(diffText({ repositories: [repository], warnings: ['api was not captured'] }, paint, false)).toBe(
      '! api was not captured\nNo file differs in any repository.\n',
    );
  });

  test('sums up every repository that differs, and says where it was cut', () => {
    const changed = { ...repository, files: 2, added: 3, deleted: 1, diff: 'diff --git a/api/x b/api/x\n' };
    const answer = { repositories: [changed, { ...repository, path: 'web' }], warnings: [] };
    expect(diffText(answer, paint, true)).toBe('1 of 2 repositories differs\n  api  2 files +3 -1\n');
    const other = { ...changed, path: 'a\tb' };
    expect(diffText({ repositories: [{ ...changed, path: '日本' }, other], warnings: [] }, paint, true)).toBe(
      '2 of 2 repositories differ\n  日本  2 files +3 -1\n  a\\tb  2 files +3 -1\n',
    );
    expect(diffText({ ...answer, repositories: [{ ...changed, truncated: true }] }, paint, false)).toContain(
      '--repository',
    );
  });
});

test('a session that was started says what comes next, in the cloud that it was started in', () => {
  const answer = {
    sessionId: 's',
    epoch: 1,
    checkpointId: 'cp-00000001-0badcafe',
    complete: true,
    messageId: null,
    repositories: [],
    warnings: [],
  };
  const place = { sandboxId: 'wb1', projectsRoot: '/home/me/work' };
  const text = startedSession(answer, place, { paint, where: { data: '/d' } });
  expect(text).toContain('next  walkback --data /d checkpoint --session s --message MESSAGE_ID\n');
});

describe('a rehydrated session', () => {
  test('says where its files are on this machine', () => {
    const result = {
      sandboxId: 'wb1',
      checkpointId: 'cp-00000003-0badcafe',
      epoch: 1,
      projectsRoot: '/home/me/work',
      repositories: [{ path: 'api', commit: 'c', tree: 't', branch: 'main', head: 'f'.repeat(40) }],
      warnings: [],
    };
    const facts = { sessionId: 's', mode: 'review', where: { data: '/d' }, paint } as const;
    const local = rehydratedSession(result, { ...facts, directory: '/data/wb1', lifetimeMs: 86_400_000 });
    expect(local).toContain('  directory   /data/wb1\n  lives       24 h');
    expect(local).toContain('walkback --data /d copies delete wb1\n');
    const remote = rehydratedSession(result, { ...facts, directory: undefined, lifetimeMs: undefined });
    expect(remote).toContain('  root        /home/me/work\n');
  });
});
