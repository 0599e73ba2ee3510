/** A page of a timeline that is a line is told from the items of session and messages; any other one from all checkpoints. Both say the same. */
import { expect, test } from 'vitest';
import { createTimeline } from '../../core/checkpoint/timeline/timeline.ts';
import { createNewStage, SESSION, type Stage } from '../support/fakes/stage.ts';
import { randomFrom } from '../support/racing-writer.ts';
import { printedSeed } from '../support/sampling.ts';

type Timeline = ReturnType<typeof createTimeline>;

/** As it is, and as one that knows nothing of lines; `trees` counts how often the first one reads every checkpoint. */
const timelinesOf = ({ store, clock }: Stage) => {
  const counted = { trees: 0 };
  const counting = {
    ...store,
    listTree: (sessionId: string) => {
      counted.trees += 1;
      return store.listTree(sessionId);
    },
  };
  const unaware = {
    ...store,
    getSession: async (sessionId: string) => {
      const session = await store.getSession(sessionId);
      return session && { ...session, isLine: undefined };
    },
  };
  return {
    counted,
    quick: createTimeline({ store: counting, clock }),
    whole: createTimeline({ store: unaware, clock }),
  };
};

const pagesOf = async (timeline: Timeline, limit: number) => {
  const pages = [await timeline({ sessionId: SESSION, limit })];
  for (let cursor = pages[0]?.cursor; cursor !== undefined; cursor = pages.at(-1)?.cursor) {
    pages.push(await timeline({ sessionId: SESSION, limit, cursor }));
  }
  return pages;
};

test('a page of a session in which nothing was rolled back does not read all checkpoints', async () => {
  const stage = createNewStage();
  const { startSession, checkpoint, rollback } = stage.instance();
  await startSession();
  for (let at = 1; at <= 12; at++) await checkpoint(`m${at >> 1}`, `t${at}`);
  const { quick, whole, counted } = timelinesOf(stage);
  expect(await pagesOf(quick, 5)).toEqual(await pagesOf(whole, 5));
  expect(counted.trees).toBe(0);
  // Back to the newest but one: it is no line any more, however it goes on.
  await rollback({ messageId: 'm5', requestId: 'r1' });
  await checkpoint('m7', 't13');
  expect(await pagesOf(quick, 5)).toEqual(await pagesOf(whole, 5));
  expect(counted.trees).toBeGreaterThan(0);
});

test('one whose checkpoints may be gone is told from what there is', async () => {
  const stage = createNewStage();
  const { startSession, checkpoint } = stage.instance();
  await startSession();
  for (let at = 1; at <= 4; at++) await checkpoint(`m${at}`, `t${at}`);
  const { quick, counted } = timelinesOf(stage);
  await pagesOf(quick, 2);
  expect(counted.trees).toBe(0);
  stage.passMs(stage.session().retentionDays * 86_400_000);
  const pages = await pagesOf(quick, 2);
  expect(counted.trees).toBe(pages.length);
});

/** What an agent and its reviewers do, at random. */
const act = async (stage: Stage, random: () => number, at: number): Promise<void> => {
  const below = (limit: number): number => Math.floor(random() * limit);
  const { checkpoint, rollback, rehydrate } = stage.instance();
  const known = stage.checkpoints().filter(({ detached }) => !detached);
  const checkpointId = known[below(known.length)]?.checkpointId ?? '';
  stage.edit('api', { 'a.txt': String(below(3)) });
  const what = below(20);
  if (what < 15) await checkpoint(`m${Math.max(0, (at >> 1) - below(2))}`, `t${at}`);
  else if (what < 18) await rollback({ checkpointId, requestId: `r${at}` });
  else if (what === 18) await rollback({ checkpointId, requestId: `r${at}`, dryRun: true });
  else await rehydrate({ checkpointId, requestId: `c${at}`, mode: 'review' });
};

test('both say the same, whatever was done', async () => {
  const random = randomFrom(printedSeed('timeline'));
  for (let round = 0; round < 20; round++) {
    const stage = createNewStage();
    await stage.instance().startSession();
    const { quick, whole } = timelinesOf(stage);
    for (let at = 1; at <= 15; at++) {
      await act(stage, random, at);
      const limit = 1 + Math.floor(random() * 6);
      expect(await pagesOf(quick, limit)).toEqual(await pagesOf(whole, limit));
    }
  }
});
