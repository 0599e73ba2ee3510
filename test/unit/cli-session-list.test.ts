/** The sessions that commands choose from are all there are, however many: the store lists them in no order. */
import { expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { runCommand } from '../support/recording-app.ts';

const PAGES = 25;

const session = (page: number, place: number) => ({
  sessionId: `s-${page}-${place}`,
  status: 'active',
  // The newest are on the last page.
  createdAt: new Date(Date.UTC(2026, 0, 1, 0, page, place)).toISOString(),
  expiresAt: 0,
  projectsRoot: page === PAGES - 1 && place === 7 ? '/work/here' : '/elsewhere',
  sandboxId: 'sb',
  headSeq: 1,
  epoch: 0,
});

const answers = {
  'walkback-list-sessions': ({ limit, cursor = '0' }: { limit: number; cursor?: string }) => {
    const page = Number(cursor);
    return {
      sessions: Array.from({ length: limit }, (_, place) => session(page, place)),
      ...(page + 1 < PAGES ? { cursor: String(page + 1) } : {}),
    };
  },
  'walkback-timeline': new WalkbackError('SessionNotFound', 'not read here'),
};

test('walkback session list has those of every page', async () => {
  const { calls, stdout, failure } = await runCommand(['session', 'list', '--json'], { answers });
  expect(failure).toBeUndefined();
  expect(calls).toHaveLength(PAGES);
  const { sessions } = JSON.parse(stdout) as { sessions: { sessionId: string }[] };
  expect(sessions.length).toBeGreaterThan(2_000);
  expect(sessions.length % PAGES).toBe(0);
  expect(sessions[0]?.sessionId).toMatch(/^s-24-/);
});

test('the session of this directory is found on the last page', async () => {
  const sandboxes = {} as never;
  const { calls } = await runCommand(['log'], { answers, sandboxes, cwd: '/work/here/api' });
  expect(calls.at(-1)).toMatchObject({ name: 'walkback-timeline', input: { sessionId: 's-24-7' } });
});
