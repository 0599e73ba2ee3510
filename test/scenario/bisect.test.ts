/** Searches for the message that broke something on the embedded cloud: real git, real processes, fresh copies that are killed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { BisectSessionAnswer } from '../../contract/bisect.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { openWorld, rootOf, sandboxIds, sdkOf, shell, type World } from '../support/world.ts';

const test = inTurn('bisect');

let cloud: TestCloud;
let world: World;
let running: string[];
/** Checkpoint of each message. */
const at = new Map<string, string>();

beforeAll(async () => {
  cloud = await startTestCloud();
  world = await openWorld(cloud, { paths: ['api', 'web'] });
  for (let n = 1; n <= 9; n++) {
    const [path, text] = n === 6 ? ['api', 'broken'] : [n % 2 === 0 ? 'api' : 'web', 'fine'];
    shell(world.root, `echo "${text} ${n}" >> ${path}/work.txt`);
    const said = { message: { role: 'user', title: `Do ${n}` }, tool: { name: `tool ${n + 1}` } };
    at.set(`m${n}`, (await world.checkpoint(`t${n}`, `m${n}`, said)).checkpointId);
  }
  running = await sandboxIds(cloud);
});
afterAll(() => cloud.close());

const TEST = '! grep -s broken api/work.txt';
const bisect = async (more: object = {}): Promise<BisectSessionAnswer> => {
  const request = { sessionId: world.sessionId, command: TEST, ...more };
  return (await cloud.invoke('bisect-session', request)) as unknown as BisectSessionAnswer;
};
const refused = (more: object) =>
  bisect(more).then(
    () => 'answered',
    (error: { errorType?: string }) => error.errorType,
  );

test('the message that broke it, with both outputs, and no copy is left', async () => {
  const before = world.fingerprint();
  const answer = await bisect({ requestId: 'found' });
  expect(answer).toMatchObject({
    outcome: 'found',
    suspects: [
      {
        messageId: 'm6',
        title: 'Do 6',
        checkpointId: at.get('m6'),
        previousCheckpointId: at.get('m5'),
        madeBy: { name: 'tool 6' },
      },
    ],
    good: { checkpointId: at.get('m5'), exitCode: 0, output: '' },
    bad: { checkpointId: at.get('m6'), exitCode: 1, output: 'broken 6\n' },
    checkpoints: 10,
  });
  expect(answer.tried.length).toBeLessThanOrEqual(8);
  expect(await bisect({ requestId: 'found' })).toEqual(answer);
  const { search } = await cloud.invoke('progress', { sessionId: world.sessionId, requestId: 'found' });
  expect(search).toMatchObject({ trying: 0, tried: { length: answer.tried.length } });
  expect(world.fingerprint()).toEqual(before);
  expect(await sandboxIds(cloud)).toEqual(running);
});

test('in a repository, between two points, with what cannot be judged', async () => {
  const command =
    'test -e work.txt || exit 125; grep -q "fine 8" work.txt && exit 125; ! grep broken work.txt';
  const answer = await bisect({ repository: 'api', good: 'm2', bad: 'm7', command });
  expect(answer.suspects).toMatchObject([{ messageId: 'm6' }]);
  const skips = await bisect({
    repository: 'api',
    good: at.get('m2'),
    command: 'case $(wc -l < work.txt) in 1) exit 0;; 4) exit 1;; *) exit 125;; esac',
  });
  expect(skips.outcome).toBe('candidates');
  expect(skips.suspects.map(({ messageId }) => messageId)).toEqual(['m4', 'm5', 'm6', 'm7', 'm8']);
  expect(await sandboxIds(cloud)).toEqual(running);
});

test('points that are not what they are said to be, and other requests, are refused by name', async () => {
  expect(await refused({ good: 'm7' })).toBe('GoodPointFails');
  expect(await refused({ bad: 'm5' })).toBe('BadPointPasses');
  expect(await refused({ command: 'exit 125' })).toBe('PointNotJudged');
  expect(await refused({ good: 'm8', bad: 'm6' })).toBe('InvalidInput');
  expect(await refused({ repository: 'none' })).toBe('InvalidInput');
  expect(await refused({ repository: '../api' })).toBe('InvalidInput');
  expect(await refused({ good: 'mx' })).toBe('MessageNotFound');
  expect(await refused({ requestId: 'found', command: 'false' })).toBe('RequestConflict');
  expect(await refused({ sessionId: 'nobody' })).toBe('SessionNotFound');
  expect(await sandboxIds(cloud)).toEqual(running);
});

test('no copy is left when probes fail, and the same request goes on', async () => {
  const proxy = await cloud.interpose('e2b', [
    { match: { path: 'process.Process/Start' }, at: 5, action: { kind: 'status', status: 500 } },
  ]);
  const request = { requestId: 'broken-off' };
  expect(await refused(request)).toMatch(/SandboxUnavailable|answered/);
  expect(proxy.count({ method: 'DELETE' })).toBeGreaterThan(0);
  cloud.heal();
  expect(await sandboxIds(cloud)).toEqual(running);
  expect((await bisect(request)).suspects).toMatchObject([{ messageId: 'm6' }]);
  expect(await sandboxIds(cloud)).toEqual(running);
});

test('copies are tagged, a few at the same time, and given no more time than the call has', async () => {
  const command = `while [ ! -e "$HOME"/go ]; do sleep 0.1; done; ${TEST}`;
  const waiting = bisect({ command });
  const copies = await vi.waitUntil(
    async () => {
      const found = (await sdkOf(cloud).list().nextItems()).filter(
        ({ sandboxId }) => !running.includes(sandboxId),
      );
      return found.length === 3 && found;
    },
    { timeout: 60_000 },
  );
  for (const { metadata, startedAt, endAt } of copies) {
    expect(metadata['walkback-session']).toBe(world.sessionId);
    expect(metadata['walkback-request']).toMatch(/^verify-/);
    expect(endAt.getTime() - startedAt.getTime()).toBeLessThan(931_000);
  }
  // Nobody deletes them meanwhile.
  const listed = await cloud.invoke('list-copies', { sessionId: world.sessionId });
  expect((listed['copies'] as { state: string }[]).map(({ state }) => state)).toEqual([
    'busy',
    'busy',
    'busy',
  ]);
  const over = new AbortController();
  const letGo = async (): Promise<void> => {
    while (!over.signal.aborted) {
      for (const id of await sandboxIds(cloud)) {
        if (running.includes(id)) continue;
        try {
          writeFileSync(join(rootOf(cloud, id, '/home/user'), 'go'), '');
        } catch {
          // It was killed meanwhile.
        }
      }
    }
  };
  const letting = letGo();
  expect((await waiting).suspects).toMatchObject([{ messageId: 'm6' }]);
  over.abort();
  await letting;
  expect(await sandboxIds(cloud)).toEqual(running);
});
