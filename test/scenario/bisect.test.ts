/**
 * Searches for the message that broke something on the embedded cloud: real git, real processes, fresh copies that are killed.
 * In `npm run test:long` also a session of about 60 messages in two repositories, with a fork, a merge and planted faults; and the
 * whole cloud is killed in the middle of a search: the same request goes on, and no copy is left.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import type { BisectSessionAnswer } from '../../contract/bisect.ts';
import { API_TEST, type BrokenStory, playBrokenStory, WEB_TEST } from '../support/broken-story.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { type KilledCloud, startKilledCloud, timed } from '../support/killed-cloud.ts';
import { longTest, sampledTest } from '../support/sampled-test.ts';
import { instants, printedSeed } from '../support/sampling.ts';
import { openWorld, rootOf, sandboxIds, sdkOf, shell, type World } from '../support/world.ts';

const test = sampledTest('bisect', 2);

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

const MESSAGES = 60;
/** Each costs a minute, in which the call that was killed shows no sign of life. */
const KILLS = 2;
const PATIENCE = { timeout: 1_800_000 };

/** The call that was killed is waited for until it shows no sign of life any more. */
const untilAnswered = async <T>(work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { errorType?: string }).errorType !== 'StillRunning') throw error;
    }
  }
};

describe('a long session', () => {
  let running: KilledCloud;
  let story: BrokenStory;
  let sandboxes: string[];

  beforeAll(async () => {
    running = await startKilledCloud();
    story = await playBrokenStory(
      { ...running.cloud, invoke: (name, event) => running.cloud.invoke(name, event) },
      MESSAGES,
    );
    sandboxes = await sandboxIds(running.cloud);
  }, 900_000);
  afterAll(() => running[Symbol.asyncDispose]());

  const search = async (more: object): Promise<BisectSessionAnswer> => {
    const request = { sessionId: story.world.sessionId, timeoutSeconds: 60, ...more };
    return (await running.cloud.invoke('bisect-session', request)) as unknown as BisectSessionAnswer;
  };

  /** What does not depend on the hour, and on which checkpoints were tried. */
  const foundIn = ({ outcome, suspects, through, good, bad }: BisectSessionAnswer) => ({
    outcome,
    suspects,
    through,
    ends: [good, bad].map(({ milliseconds: _milliseconds, ...end }) => end),
  });

  longTest('the fault of the session, and that of the fork, which a merge brought', PATIENCE, async () => {
    const api = await search({ command: API_TEST, good: 'm1' });
    expect(api).toMatchObject({
      outcome: 'found',
      suspects: [{ messageId: story.broken, sessionId: story.world.sessionId }],
      through: [],
      good: { exitCode: 0 },
      bad: { exitCode: 1, output: '2 + 3 is -1\n' },
    });
    expect(api.tried.length).toBeLessThanOrEqual(14);

    const web = await search({ command: WEB_TEST, repository: 'web', good: 'm1' });
    expect(web).toMatchObject({
      outcome: 'found',
      suspects: [{ messageId: story.brokenInFork, sessionId: story.forkId }],
      through: [{ reason: 'merge', sessionId: story.world.sessionId }],
      bad: { exitCode: 3, output: expect.stringContaining('no greeting\ngreeting=goodbye') },
    });
    // Seen from the fork, its own message did it.
    expect(
      await search({ sessionId: story.forkId, command: WEB_TEST, repository: 'web', good: 'm1' }),
    ).toMatchObject({
      suspects: [{ messageId: story.brokenInFork, sessionId: story.forkId }],
      through: [],
    });
    expect(await sandboxIds(running.cloud)).toEqual(sandboxes);
  });

  longTest(
    'killed in between: the same request kills what was left, and finds the same',
    PATIENCE,
    async () => {
      const slow = { command: `sleep 0.3; ${API_TEST}`, good: 'm1' };
      const { ms } = await timed(() => search({ ...slow, requestId: 'clean' }));
      const answer = await search({ ...slow, requestId: 'clean' });
      let left = 0;
      for (const [index, afterMs] of instants(ms, KILLS, printedSeed('kills of searches')).entries()) {
        const name = `killed after ${Math.round(afterMs)} of ${Math.round(ms)} ms`;
        const request = { ...slow, requestId: `kill-${index}` };
        await running.killDuring(() => search(request), afterMs);
        for (const { sandboxId, metadata, startedAt, endAt } of await sdkOf(running.cloud)
          .list()
          .nextItems()) {
          if (sandboxes.includes(sandboxId)) continue;
          left += 1;
          expect(metadata['walkback-request'], name).toMatch(/^verify-/);
          expect(endAt.getTime() - startedAt.getTime(), name).toBeLessThanOrEqual(931_000);
        }
        const again = await untilAnswered(() => search(request));
        expect(foundIn(again), name).toEqual(foundIn(answer));
        expect(await sandboxIds(running.cloud), name).toEqual(sandboxes);
      }
      process.stdout.write(`copies that kills left: ${left}\n`);
    },
  );
});
