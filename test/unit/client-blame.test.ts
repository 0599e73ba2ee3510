/** `session.blame`: what it asks, and the review copy that stands in for a sandbox that is gone. */
import { expect, test } from 'vitest';
import { errors } from '../../client/errors.ts';
import type { Invoke } from '../../client/invoke.ts';
import { createSession } from '../../client/session.ts';
import { blameAnswer } from '../support/blame-answer.ts';

const COPY = { sandboxId: 'copy-1', checkpointId: 'cp-00000009-0badcafe' };

const sessionOver = (answer: (request: { sandboxId?: string }) => unknown) => {
  const asked: [name: string, request: Record<string, unknown>][] = [];
  const invoke = (async (name: string, request: Record<string, unknown>) => {
    asked.push([name, request]);
    return name === 'rehydrate' ? COPY : answer(request);
  }) as Invoke;
  const session = createSession(
    { invoke, signal: undefined, onCheckpointError: 'block', onWarning: () => undefined, redact: false },
    's1',
    { epoch: 1, seq: 1 },
  );
  return { session, asked };
};

const goneUnlessCopy = ({ sandboxId }: { sandboxId?: string }) => {
  if (sandboxId === undefined) throw new errors.SandboxNotFound('It is gone.');
  return blameAnswer();
};

test('asks once where the sandbox answers, with the point as its host names it', async () => {
  const { session, asked } = sessionOver(() => blameAnswer());
  expect(await session.blame('api/a.ts', { at: 'turn 7', lines: { from: 3 } })).toEqual(blameAnswer());
  expect(asked).toEqual([
    ['blame', { sessionId: 's1', path: 'api/a.ts', at: expect.stringMatching(/^h-/), lines: { from: 3 } }],
  ]);
  await expect(session.blame(7 as unknown as string)).rejects.toThrow('session.blame: path is a number');
});

test('a copy of the point stands in, and all ids follow from that of the request', async () => {
  const ids = async () => {
    const { session, asked } = sessionOver(goneUnlessCopy);
    const answer = await session.blame('a.ts', { at: 'msg-2', requestId: 'r1' });
    expect(answer.warnings[0]).toContain('looked at in the review copy copy-1');
    expect(asked.map(([name]) => name)).toEqual(['blame', 'rehydrate', 'blame']);
    expect(asked[1]?.[1]).toMatchObject({ sessionId: 's1', messageId: 'msg-2', mode: 'review' });
    expect(asked[2]?.[1]).toMatchObject({ at: COPY.checkpointId, sandboxId: 'copy-1', path: 'a.ts' });
    return asked.map(([, request]) => request['requestId']);
  };
  const first = await ids();
  expect(new Set(first).size).toBe(3);
  expect(await ids()).toEqual(first);
});

test.each([{ at: 'now' }, { sandboxId: 'mine' }])('no copy stands in for %j', async (options) => {
  const { session, asked } = sessionOver(() => {
    throw new errors.SandboxNotFound('It is gone.');
  });
  await expect(session.blame('a.ts', options)).rejects.toMatchObject({ name: 'SandboxNotFound' });
  expect(asked).toHaveLength(1);
});
