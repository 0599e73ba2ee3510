/** The compare page of a deployment, where a comparison takes longer than the gateway waits. */
import { expect, test } from 'vitest';
import { locationOf, signInWithBrowser } from '../support/browser-person.ts';
import { startTestCloud } from '../support/cloud.ts';
import { edit, openWorld } from '../support/world.ts';

const START = { path: 'process.Process/Start' };

test('a comparison that takes too long for one answer is made once, and shown when it is there', async () => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  await world.checkpoint('m-1');
  edit(world.root, 1, ['api']);
  await world.checkpoint('m-2');
  const points = { sessionId: 's1', from: 'm-1', to: 'm-2' };
  const quick = await cloud.interpose('e2b');
  await cloud.invoke('diff', points);
  const once = quick.count(START);
  expect(once).toBeGreaterThan(0);

  const slow = await cloud.interpose('e2b', [{ match: START, at: 1, action: { kind: 'delay', ms: 27_500 } }]);
  const at = cloud.endpoints.api;
  const path = '/sessions/s1/compare?from=m-1&to=m-2';
  const { person } = await signInWithBrowser(cloud, {
    path,
    roles: 'reviewer',
    name: 'rita@example.com',
  });
  const first = await person.get(at + path);
  expect(first.status, first.text).toBe(303);
  const asked = locationOf(first);
  expect(asked).toMatch(/^\/sessions\/s1\/compare\?from=m-1&to=m-2&request=console-[0-9a-f-]{36}$/);
  const shown = await person.get(at + asked);
  expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('1 of 2 repositories differs')]);
  expect(shown.text).toContain('Compare asks anew');
  expect(shown.text).not.toContain('http-equiv="refresh"');
  // The function has read the repositories once.
  expect(slow.count(START)).toBe(once);

  // The address without the request is another question, and is answered in one go by now.
  const fresh = await person.get(at + path);
  expect([fresh.status, fresh.text]).toEqual([200, expect.stringContaining('1 of 2 repositories differs')]);
  expect(fresh.text).not.toContain('Compare asks anew');
  expect(slow.count(START)).toBe(2 * once);
});
