/** A call that captures for long says how far it is. */
import { expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

const checkpoint = {
  sessionId: 's1',
  checkpointId: 'cp-1',
  complete: true,
  repositories: [],
  failures: [],
  skipped: [],
};
const take = ['checkpoint', '--session', 's1', '--message', 'm1'];
const asked = (calls: { name: string }[]) => calls.filter(({ name }) => name === 'walkback-progress').length;

const scene = (progress: unknown) => {
  const done = Promise.withResolvers<unknown>();
  let count = 0;
  return {
    isDrawn: true,
    answers: {
      'walkback-timeline': { session: { sessionId: 's1' } },
      'walkback-checkpoint': () => done.promise,
      'walkback-progress': () => {
        count += 1;
        // By the second question, the answer to the first has been drawn.
        if (count === 2 || progress instanceof Error) done.resolve(checkpoint);
        return progress instanceof Error ? Promise.reject(progress) : { progress };
      },
    },
  };
};

const times = { startedAt: '2026-01-01T00:00:00.000Z', at: '2026-01-01T00:00:09.000Z' };

test('it is drawn beside the seconds, and gone at the end', async () => {
  const { stderr, calls, failure } = await runCommand(
    take,
    scene({ doing: 'files', done: 1_200, of: 90_000, ...times }),
  );
  expect(failure).toBeUndefined();
  expect(stderr).toContain('Capturing s1: 1,200 of 90,000 files read');
  expect(stderr.endsWith('\r\u001b[2K')).toBe(true);
  expect(asked(calls)).toBe(2);
});

test('a person who may not ask sees the seconds alone', async () => {
  const { stderr, calls, failure } = await runCommand(take, scene(new Error('AccessDenied')));
  expect(failure).toBeUndefined();
  expect(stderr).toContain('Capturing s1');
  expect(stderr).not.toContain('files');
  expect(asked(calls)).toBe(1);
});

test('with --json nobody looks, and nothing is asked', async () => {
  const { calls, failure, stderr } = await runCommand([...take, '--json'], {
    answers: {
      'walkback-timeline': { session: { sessionId: 's1' } },
      'walkback-checkpoint': checkpoint,
    },
  });
  expect({ failure, stderr, asked: asked(calls) }).toEqual({ failure: undefined, stderr: '', asked: 0 });
});

/** A command whose function answers when its progress was asked for twice. */
const restoring = (name: string, answer: unknown, more: Record<string, unknown> = {}) => {
  const done = Promise.withResolvers<unknown>();
  let count = 0;
  const progress = [
    { doing: 'download', done: 3 * 1024 ** 2, of: 12 * 1024 ** 2, ...times },
    { doing: 'verified', done: 1_200, of: 90_000, ...times },
  ];
  return {
    isDrawn: true,
    answers: {
      ...more,
      [name]: () => done.promise,
      'walkback-progress': () => {
        count += 1;
        if (count === 3) done.resolve(answer);
        return { progress: progress[Math.min(count, 2) - 1] };
      },
    },
  };
};

const ROLLED_BACK = {
  status: 'APPLIED',
  checkpointId: 'cp-00000002-0badcafe',
  epoch: 2,
  undoCheckpointId: 'cp-00000005-0badcafe',
  repositories: [],
  discardedMessageIds: [],
  trimAfterMessageId: null,
  warnings: [],
};

test('so does a rollback', async () => {
  const { stderr, failure } = await runCommand(
    ['rollback', '--session', 's1', '--to', 'msg-2', '--yes'],
    restoring('walkback-rollback', ROLLED_BACK),
  );
  expect(failure).toBeUndefined();
  expect(stderr).toContain('Rolling back to msg-2: 3.0 MiB of 12.0 MiB fetched');
  expect(stderr).toContain('Rolling back to msg-2: 1,200 of 90,000 files verified');
});

test('and a rehydrate', async () => {
  const answer = {
    sandboxId: 'sb-2',
    checkpointId: 'cp-00000002-0badcafe',
    epoch: 1,
    projectsRoot: '/projects',
    repositories: [],
    warnings: [],
  };
  const { stderr, failure } = await runCommand(
    ['rehydrate', '--session', 's1', '--mode', 'resume'],
    restoring('walkback-rehydrate', answer),
  );
  expect(failure).toBeUndefined();
  expect(stderr).toContain('Rehydrating s1: 3.0 MiB of 12.0 MiB fetched');
  expect(stderr).toContain('Rehydrating s1: 1,200 of 90,000 files verified');
});
