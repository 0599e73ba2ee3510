/** Finds what was said, run and changed, on the embedded cloud: as the functions keep it, for those who may search. */
import { expect, test } from 'vitest';
import type { SearchSessionsAnswer } from '../../contract/search-sessions.ts';
import { startTestCloud } from '../support/cloud.ts';
import { openWorld, shell } from '../support/world.ts';

test('messages, calls and files of sessions are found once the stream has told of them', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const { sessionId } = world;
  const checkpoint = (toolExecutionId: string, messageId: string, more: object = {}) =>
    cloud.invoke('checkpoint', { sessionId, messageId, toolExecutionId, reason: 'before-tool', ...more });
  const search = async (words: string, more: object = {}) => {
    await cloud.settled();
    return (await cloud.invoke('search-sessions', { words, ...more })) as unknown as SearchSessionsAnswer;
  };

  // Its texts are too long for the item, so they are in its object.
  const long = `Take the ROUNDING out\n${'of the sum, '.repeat(90)}at last`;
  await checkpoint('t1', 'm1', {
    message: { role: 'user', text: long },
    tool: { name: 'Bash', input: { command: 'npm run rounding', about: 'x'.repeat(600) } },
  });
  shell(world.root, 'cd api; echo 2 > price.ts; echo 2 > sum.ts; rm -r ../web/src');
  await checkpoint('t2', 'm2', {
    message: { role: 'user', text: 'And now the next' },
    tool: { name: 'Write' },
  });

  expect(await search('rounding SUM')).toMatchObject({
    messages: [{ sessionId, messageId: 'm1', title: 'Take the ROUNDING out', role: 'user' }],
    moreMessages: 0,
    looked: { checkpoints: 3, cut: 1, sessions: 1 },
  });
  const { calls } = await search('npm price.ts');
  expect(calls).toMatchObject([
    {
      sessionId,
      messageId: expect.any(String),
      tool: 'Bash',
      paths: [],
      checkpointId: expect.stringMatching(/^cp-00000003-/),
    },
  ]);
  expect((await search('web/src')).calls).toMatchObject([
    { tool: 'Bash', paths: [expect.stringMatching(/^web\/src\//)] },
  ]);
  expect(await search('nowhere')).toMatchObject({ messages: [], calls: [] });
  expect((await search('rounding', { sessionId })).messages).toHaveLength(1);
  await expect(search('rounding', { sessionId: 'other' })).rejects.toMatchObject({
    errorType: 'SessionNotFound',
  });
  await expect(search(' ')).rejects.toMatchObject({ errorType: 'InvalidInput' });
  await expect(search('a', { cursor: 'yesterday' })).rejects.toMatchObject({ errorType: 'InvalidInput' });
});
