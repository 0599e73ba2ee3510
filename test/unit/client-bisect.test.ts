/** `sessions.bisect` waits until the search ends, over several calls of one request. */
import { expect, test } from 'vitest';
import { errors } from '../../client/errors.ts';
import type { Invoke } from '../../client/invoke.ts';
import { createSessions } from '../../client/sessions.ts';
import { bisectAnswer } from '../support/bisect-answer.ts';

const sessionsOver = (answers: readonly unknown[]) => {
  const asked: unknown[] = [];
  const left = [...answers];
  const invoke = (async (_name: string, request: unknown) => {
    asked.push(request);
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  }) as Invoke;
  const sessions = createSessions({
    invoke,
    sandboxes: async () => undefined,
    signal: undefined,
    onCheckpointError: 'block',
    onWarning: () => undefined,
    redact: false,
  });
  return { sessions, asked };
};

const SEARCH = { sessionId: 's1', command: 'npm test' };
const goesOn = () => new errors.StillRunning('The search goes on.');

test('a call that ends before the search does is made again, under one request id', async () => {
  const { sessions, asked } = sessionsOver([goesOn(), goesOn(), bisectAnswer()]);
  expect(await sessions.bisect(SEARCH)).toEqual(bisectAnswer());
  expect(asked).toHaveLength(3);
  expect(new Set(asked.map((request) => JSON.stringify(request))).size).toBe(1);
  expect(asked[0]).toMatchObject({ ...SEARCH, requestId: expect.stringMatching(/^bisect-/) });
});

test('points are messages or checkpoints, as everywhere; a request id of the caller stays', async () => {
  const { sessions, asked } = sessionsOver([bisectAnswer()]);
  const checkpointId = 'cp-00000007-0badcafe';
  await sessions.bisect({
    ...SEARCH,
    good: { messageId: 'the host/id' },
    bad: checkpointId,
    requestId: 'mine',
  });
  expect(asked).toEqual([
    { ...SEARCH, good: expect.stringMatching(/^h-[0-9a-f]{32}$/), bad: checkpointId, requestId: 'mine' },
  ]);
});

test('any other error ends it, and so does a signal', async () => {
  const { sessions, asked } = sessionsOver([new errors.GoodPointFails('good: it fails.'), goesOn()]);
  await expect(sessions.bisect(SEARCH)).rejects.toMatchObject({ name: 'GoodPointFails' });
  expect(asked).toHaveLength(1);
  const reason = new Error('given up');
  await expect(sessions.bisect(SEARCH, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(asked).toHaveLength(2);
});

test('what is missing is named before anything is asked', async () => {
  const { sessions, asked } = sessionsOver([]);
  const options = { sessionId: 's1' } as Parameters<typeof sessions.bisect>[0];
  await expect(sessions.bisect(options)).rejects.toThrow(/^sessions\.bisect: command is missing\. /);
  expect(asked).toEqual([]);
});
