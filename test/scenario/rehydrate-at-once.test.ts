/** One rehydrate asked for several times at once, as a client that repeats a call it believes lost. */
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { edit, openWorld, sdkOf, type World } from '../support/world.ts';

const test = inTurn('rehydrate-at-once');

let cloud: TestCloud;
let world: World;
beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'] });
  edit(world.root, 1, world.paths);
  await world.checkpoint('target');
});
afterAll(() => cloud.close());

const sandboxesOf = async (requestId: string): Promise<unknown[]> =>
  sdkOf(cloud)
    .list({ query: { metadata: { 'walkback-request': requestId } } })
    .nextItems();

test.each(['review', 'resume'] as const)(
  'four %s calls at once are one: the same answer, one sandbox',
  async (mode) => {
    const requestId = `at-once-${mode}`;
    const call = () => cloud.invoke('rehydrate', { sessionId: world.sessionId, mode, requestId });
    const answers = await Promise.all([call(), call(), call(), call()]);
    expect(answers[0]).toMatchObject({ sandboxId: expect.stringMatching(/^wb/) });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await call()).toEqual(answers[0]);
    expect(await sandboxesOf(requestId)).toHaveLength(1);
  },
);

test('when the one that works fails, the next takes over, and all have its answer', async () => {
  const requestId = 'at-once-after-a-failure';
  const e2b = await cloud.interpose('e2b', [
    { match: { method: 'POST', path: /^\/v2\/sandboxes$/ }, at: 1, action: { kind: 'status', status: 503 } },
  ]);
  const call = () =>
    cloud
      .invoke('rehydrate', { sessionId: world.sessionId, requestId })
      .catch((error: unknown) => String(error));
  const answers = await Promise.all([call(), call(), call(), call()]);
  expect(e2b.count({ method: 'POST', path: /^\/v2\/sandboxes$/ })).toBe(2);
  const told = answers.filter((answer) => typeof answer === 'string');
  expect(told).toEqual([expect.stringContaining('SandboxUnavailable')]);
  const [first, ...others] = answers.filter((answer) => typeof answer !== 'string');
  expect(others).toEqual([first, first]);
  expect(await sandboxesOf(requestId)).toHaveLength(1);
});
