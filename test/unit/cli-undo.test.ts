import { describe, expect, test } from 'vitest';
import { pointsOf } from '../../cli/choose-point.ts';
import { runCommand } from '../support/recording-app.ts';

const ID = (seq: number): string => `cp-${String(seq).padStart(8, '0')}-0badcafe`;

const checkpoint = (seq: number, more: object = {}) => ({
  checkpointId: ID(seq),
  seq,
  parentSeq: seq === 1 ? null : seq - 1,
  messageId: null,
  toolExecutionId: `tool-${seq}`,
  reason: 'manual',
  detached: false,
  onHeadPath: true,
  repositories: [{ path: 'api', changed: true }],
  createdAt: '2026-01-02T10:00:00Z',
  ...more,
});

const timeline = (headSeq: number, checkpoints: object[], messages: object[] = []) => ({
  session: { sessionId: 's', headSeq, seq: 9, epoch: 1, projectsRoot: '/p', sandboxId: 'x' },
  checkpoints,
  messages,
});

const rolledBack = (input: object) => ({
  status: 'dryRun' in input ? 'PLANNED' : 'APPLIED',
  checkpointId: ID(3),
  epoch: 3,
  undoCheckpointId: ID(4),
  repositories: [],
  discardedMessageIds: [],
  trimAfterMessageId: null,
  warnings: [],
});

/** Two checkpoints, and a rollback to the first one. */
const AFTER_ROLLBACK = timeline(1, [checkpoint(3, { reason: 'rollback' }), checkpoint(2), checkpoint(1)]);

describe('walkback undo and redo', () => {
  test('undo goes to what was there before the last rollback', async () => {
    const { calls, failure } = await runCommand(['undo', '--session', 's', '--request', 'r', '--yes'], {
      answers: { 'walkback-timeline': AFTER_ROLLBACK, 'walkback-rollback': rolledBack },
    });
    expect(failure).toBeUndefined();
    expect(calls.at(-1)).toEqual({
      name: 'walkback-rollback',
      input: { sessionId: 's', checkpointId: ID(3), requestId: 'r', epoch: 1 },
    });
  });

  test('decided in another epoch it is refused, and nothing is asked for', async () => {
    const { calls, failure, stderr } = await runCommand(['undo', '-s', 's', '--epoch', '7', '--yes'], {
      answers: { 'walkback-timeline': AFTER_ROLLBACK, 'walkback-rollback': rolledBack },
    });
    expect(failure).toMatchObject({ name: 'StaleEpoch', exitCode: 4 });
    expect(calls.map(({ name }) => name)).toEqual(['walkback-timeline']);
    expect(stderr).toBe('');
  });

  test('accepts what does not hold everything when it is told to', async () => {
    const { calls } = await runCommand(['undo', '-s', 's', '--request', 'r', '--allow-partial', '--yes'], {
      answers: { 'walkback-timeline': AFTER_ROLLBACK, 'walkback-rollback': rolledBack },
    });
    expect(calls.at(-1)?.input).toMatchObject({ checkpointId: ID(3), allowPartial: true });
  });

  test('says so when there is nothing to undo or to redo, and changes nothing', async () => {
    const before = timeline(2, [checkpoint(2), checkpoint(1)]);
    for (const way of ['undo', 'redo']) {
      const { calls, failure } = await runCommand([way, '--session', 's', '--yes'], {
        answers: { 'walkback-timeline': before },
      });
      expect(failure).toMatchObject({ name: 'CheckpointNotFound', exitCode: 3 });
      expect(failure?.message).toContain(`Nothing to ${way}`);
      expect(calls.map(({ name }) => name)).toEqual(['walkback-timeline']);
    }
  });

  test('names the directory and asks; no means that nothing is changed', async () => {
    const places = async () => ({ rootfs: '/data/sandbox', mounts: { '/p': '/home/me/work' } });
    const { failure, calls } = await runCommand(['undo', '--session', 's'], {
      answers: { 'walkback-timeline': AFTER_ROLLBACK, 'walkback-rollback': rolledBack },
      sandboxes: { places } as never,
      typed: 'n\n',
    });
    expect(failure).toMatchObject({ name: 'NotConfirmed' });
    expect(calls.filter(({ name }) => name === 'walkback-rollback')).toHaveLength(1);
  });
});

describe('a rollback without a target', () => {
  const several = timeline(
    2,
    [
      checkpoint(4, { detached: true }),
      checkpoint(3, { messageId: 'msg-2', onHeadPath: false }),
      checkpoint(2, { messageId: 'msg-1' }),
      checkpoint(1, { reason: 'start' }),
    ],
    [
      { messageId: 'msg-1', checkpointId: ID(2), order: 1, discarded: false },
      { messageId: 'msg-2', checkpointId: ID(3), order: 2, discarded: true },
    ],
  );

  test('lists where it could go when there is no terminal', async () => {
    const { failure, calls } = await runCommand(['rollback', '--session', 's', '--yes'], {
      answers: { 'walkback-timeline': several },
    });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(failure?.message).toContain(`msg-2, msg-1, ${ID(1)}`);
    expect(calls.map(({ name }) => name)).toEqual(['walkback-timeline']);
  });

  test('offers messages and checkpoints, newest first, with what they changed', () => {
    const points = pointsOf(several as never, new Date('2026-01-03T10:00:00Z'));
    expect(points.map(({ value }) => value)).toEqual(['msg-2', 'msg-1', ID(1)]);
    expect(points.map(({ hint }) => hint.replace(/^.*?· /, ''))).toEqual([
      'api · left behind',
      'api · head',
      'api',
    ]);
    expect(points[2]?.label).toBe('cp-1  start');
  });

  test('a checkpoint that may be half written says so', () => {
    const half = timeline(1, [checkpoint(2, { reason: 'rollback', halfWritten: true }), checkpoint(1)]);
    const [point] = pointsOf(half as never, new Date('2026-01-03T10:00:00Z'));
    expect(point?.hint).toContain(' · may be half written, a rollback broke off · api');
  });

  test('goes to what a person chose on the terminal', async () => {
    const { failure, calls } = await runCommand(['rollback', '--session', 's', '--yes'], {
      answers: { 'walkback-timeline': several, 'walkback-rollback': rolledBack },
      typed: '\u001b[B\r',
    });
    expect(failure).toBeUndefined();
    expect(calls.at(-1)).toMatchObject({ name: 'walkback-rollback', input: { messageId: 'msg-1' } });
  });
});
