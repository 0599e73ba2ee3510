/**
 * A session of about 60 messages in two repositories, with a fork, a merge and planted faults; and the whole cloud is killed in
 * the middle of a search: the same request goes on, and no copy is left.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BisectSessionAnswer } from '../../contract/bisect.ts';
import { API_TEST, type BrokenStory, playBrokenStory, WEB_TEST } from '../support/broken-story.ts';
import { type KilledCloud, startKilledCloud, timed } from '../support/killed-cloud.ts';
import { instants, printedSeed } from '../support/sampling.ts';
import { sandboxIds, sdkOf } from '../support/world.ts';
import './bisect.test.ts';

const MESSAGES = 60;
/** Each costs a minute, in which the call that was killed shows no sign of life. */
const KILLS = 2;
const PATIENCE = { timeout: 1_800_000 };
const SEED = printedSeed('kills of searches');

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

const bisect = async (more: object): Promise<BisectSessionAnswer> => {
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

test('the fault of the session, and that of the fork, which a merge brought', PATIENCE, async () => {
  const api = await bisect({ command: API_TEST, good: 'm1' });
  expect(api).toMatchObject({
    outcome: 'found',
    suspects: [{ messageId: story.broken, sessionId: story.world.sessionId }],
    through: [],
    good: { exitCode: 0 },
    bad: { exitCode: 1, output: '2 + 3 is -1\n' },
  });
  expect(api.tried.length).toBeLessThanOrEqual(14);

  const web = await bisect({ command: WEB_TEST, repository: 'web', good: 'm1' });
  expect(web).toMatchObject({
    outcome: 'found',
    suspects: [{ messageId: story.brokenInFork, sessionId: story.forkId }],
    through: [{ reason: 'merge', sessionId: story.world.sessionId }],
    bad: { exitCode: 3, output: expect.stringContaining('no greeting\ngreeting=goodbye') },
  });
  // Seen from the fork, its own message did it.
  expect(
    await bisect({ sessionId: story.forkId, command: WEB_TEST, repository: 'web', good: 'm1' }),
  ).toMatchObject({
    suspects: [{ messageId: story.brokenInFork, sessionId: story.forkId }],
    through: [],
  });
  expect(await sandboxIds(running.cloud)).toEqual(sandboxes);
});

test('killed in between: the same request kills what was left, and finds the same', PATIENCE, async () => {
  const slow = { command: `sleep 0.3; ${API_TEST}`, good: 'm1' };
  const { ms } = await timed(() => bisect({ ...slow, requestId: 'clean' }));
  const answer = await bisect({ ...slow, requestId: 'clean' });
  let left = 0;
  for (const [index, afterMs] of instants(ms, KILLS, SEED).entries()) {
    const name = `killed after ${Math.round(afterMs)} of ${Math.round(ms)} ms`;
    const request = { ...slow, requestId: `kill-${index}` };
    await running.killDuring(() => bisect(request), afterMs);
    for (const { sandboxId, metadata, startedAt, endAt } of await sdkOf(running.cloud).list().nextItems()) {
      if (sandboxes.includes(sandboxId)) continue;
      left += 1;
      expect(metadata['walkback-request'], name).toMatch(/^verify-/);
      expect(endAt.getTime() - startedAt.getTime(), name).toBeLessThanOrEqual(931_000);
    }
    const again = await untilAnswered(() => bisect(request));
    expect(foundIn(again), name).toEqual(foundIn(answer));
    expect(await sandboxIds(running.cloud), name).toEqual(sandboxes);
  }
  process.stdout.write(`copies that kills left: ${left}\n`);
});

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
