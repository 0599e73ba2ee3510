/** What starting, reading and ending a session promises, one sentence per test, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import { everythingHeld } from '../support/fakes/abandoned.ts';
import { failing } from '../support/fakes/failing.ts';
import { sha1 } from '../support/fakes/fake-bundle.ts';
import { createCounter } from '../support/fakes/faults.ts';
import { createNewStage, createStage, createWorkingStage, SANDBOX, SESSION } from '../support/fakes/stage.ts';

describe('start-session', () => {
  test('answers the contract', async () => {
    const answer = await createNewStage().instance().startSession();
    expect(answer).toEqual({
      sessionId: SESSION,
      epoch: 1,
      checkpointId: expect.stringMatching(/^cp-00000001-/),
      repositories: [
        { path: 'api', branch: 'main', head: sha1('api'), commits: 1 },
        { path: 'notes', branch: 'main', head: null, commits: 0 },
        { path: 'web', branch: 'main', head: sha1('web'), commits: 1 },
      ],
      complete: true,
      warnings: [],
    });
  });

  test('makes an id when none is given', async () => {
    const { sessionId } = await createNewStage().instance().startSession({ sessionId: undefined });
    expect(sessionId).toMatch(/^s-[0-9a-z]+-[0-9a-f]{10}$/);
  });

  test('gives the same answer to the same request, and SessionConflict to another', async () => {
    const stage = createNewStage();
    const first = await stage.instance().startSession();
    expect(await stage.instance().startSession()).toEqual(first);
    await failing(stage.instance().startSession({ exclude: ['*.log'] }), 'SessionConflict');
  });

  test('two starts at once make one session', async () => {
    const stage = createNewStage();
    const [a, b] = await Promise.all([stage.instance().startSession(), stage.instance().startSession()]);
    expect(a).toEqual(b);
    expect(stage.checkpoints()).toHaveLength(1);
  });

  test('says what to do where there is no repository', async () => {
    const stage = createStage();
    stage.world.addSandbox(SANDBOX, {});
    const { message } = await failing(stage.instance().startSession({ looseFiles: false }), 'NoRepositories');
    expect(message).toContain('git init');
    expect(stage.store.tables.sessions.size).toBe(0);
  });

  test.each([
    ['makes no base again that a session of its tenant has stored', 'shop', 'shop', 2],
    ['makes its own where another tenant has stored one', 'shop', 'bank', 4],
    ['makes its own where a session of no tenant has stored one', undefined, undefined, 4],
    ['makes its own where it has a tenant and the other has none', undefined, 'shop', 4],
  ])('%s', async (_what, first, second, made) => {
    const stage = createNewStage();
    await stage.instance().startSession({ tenant: first });
    const known: string[][] = [];
    const capture = stage.world.repositories.capture.bind(stage.world.repositories);
    stage.world.repositories.capture = (sandbox, request, upload) => {
      known.push(request.knownBases);
      return capture(sandbox, request, upload);
    };
    await stage.instance().startSession({ sessionId: 'other', tenant: second });
    expect(known).toEqual([made === 2 ? [`sha1-${sha1('api')}`, `sha1-${sha1('web')}`] : []]);
    expect([...stage.bucket.objects.keys()].filter((key) => key.startsWith('bases/'))).toHaveLength(made);
  });
});

describe('timeline, context and end-session', () => {
  test('the timeline answers pages, newest first, with what was left behind', async () => {
    const stage = await createWorkingStage();
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    const { timeline } = stage.instance();
    const first = await timeline({ sessionId: SESSION, limit: 3 });
    expect(first.session).toMatchObject({ sessionId: SESSION, epoch: 2, headSeq: 2, busy: null });
    expect(first.checkpoints.map(({ seq, onHeadPath }) => [seq, onHeadPath])).toEqual([
      [4, false],
      [3, false],
      [2, true],
    ]);
    expect(first.messages).toMatchObject([
      { messageId: 'm1', order: 1, discarded: false },
      { messageId: 'm2', order: 2, discarded: true },
    ]);
    const second = await timeline({ sessionId: SESSION, limit: 3, cursor: first.cursor });
    expect(second.checkpoints.map(({ seq }) => seq)).toEqual([1]);
    expect(second.cursor).toBeUndefined();
    await failing(timeline({ sessionId: SESSION, cursor: 'x' }), 'InvalidInput');
  });

  test('the context details three repositories and summarises the rest', async () => {
    const stage = await createWorkingStage();
    const { prompt, repositories, directories } = await stage.instance().context();
    expect(repositories).toHaveLength(4);
    expect(directories).toHaveLength(3);
    expect(prompt.match(/^## \/projects\//gm)).toHaveLength(3);
    expect(prompt).toContain('## Other repositories\n- /projects/web');
    expect(prompt).toContain('You work in 4 git repositories below /projects.');
  });

  test('ending is idempotent and starts the retention', async () => {
    const stage = await createWorkingStage();
    const first = await stage.instance().endSession();
    expect(first).toEqual({
      sessionId: SESSION,
      expiresAt: stage.clock.now().getTime() / 1000 + 30 * 86_400,
      status: 'ENDED',
      cleaned: {
        removed: { entries: [], files: 0, bytes: 0 },
        kept: { entries: [], files: 0, bytes: 0 },
      },
    });
    stage.passMs(1_000_000);
    expect(await stage.instance().endSession()).toEqual(first);
  });

  test('one whose sandbox is gone ends, and its answer says nothing of what was left there', async () => {
    const stage = await createWorkingStage();
    stage.world.running.delete(SANDBOX);
    const { status, cleaned } = await stage.instance().endSession();
    expect([status, cleaned]).toEqual(['ENDED', undefined]);
  });

  test('the checkpoint an ended session stands on, and all it needs, is kept as long as the session', async () => {
    const stage = await createWorkingStage();
    stage.passMs(29 * 86_400_000);
    const { expiresAt } = await stage.instance().endSession();
    const head = stage.checkpoints().at(-1);
    expect(head?.expiresAt).toBe(expiresAt);
    expect(stage.session().expiresAt).toBe(expiresAt);
    const { links, bases } = stage.store.tables;
    const chains = new Set(head?.repositories.map(({ chainId }) => chainId));
    const needed = [...links.values()].filter(({ chainId }) => chains.has(chainId));
    expect(needed.length).toBeGreaterThan(0);
    for (const item of [...needed, ...bases.values()])
      expect(item.expiresAt).toBeGreaterThanOrEqual(expiresAt);
  });
});

test('a fork says from the beginning how many repositories and lines it has', async () => {
  const stage = await createWorkingStage();
  const { sessionId } = await stage.instance().fork();
  const { session } = await stage.instance().timeline({ sessionId });
  const count = stage.checkpoints().find((one) => one.sessionId === sessionId)?.repositories.length;
  expect(count).toBeGreaterThan(0);
  expect(session).toMatchObject({ lines: { added: 0, deleted: 0 }, repositories: count });
});

describe('a fork that is discarded', () => {
  const UNCAPTURED = { path: 'api', reason: 'no access' };
  const forked = async () => {
    const stage = await createWorkingStage();
    const fork = await stage.instance().fork();
    const { sessionId, sandboxId } = fork;
    const end = (more: Parameters<ReturnType<typeof stage.instance>['endSession']>[0] = {}) =>
      stage.instance().endSession({ sessionId, discard: true, ...more });
    const held = () => stage.checkpoints().filter((one) => one.sessionId === sessionId);
    return { stage, sessionId, sandboxId, end, held };
  };

  test('its last work is in a checkpoint before its sandbox is killed', async () => {
    const { stage, sessionId, sandboxId, end, held } = await forked();
    stage.edit('web', { 'only.txt': 'in the fork' }, sandboxId);
    const answer = await end();
    const last = held().at(-1);
    expect(last).toMatchObject({ reason: 'discard', complete: true });
    expect(answer).toMatchObject({
      status: 'ENDED',
      discarded: { changed: ['web'], lastCheckpointId: last?.checkpointId, uncaptured: [] },
    });
    expect(stage.world.running.has(sandboxId)).toBe(false);
    const again = await stage.instance().fork({ sessionId, requestId: 'look' });
    expect(stage.world.filesOf(again.sandboxId)['web']).toMatchObject({ 'only.txt': 'in the fork' });
  });

  test('without later work it gets no checkpoint', async () => {
    const { stage, sandboxId, end, held } = await forked();
    expect(await end()).toMatchObject({ discarded: { changed: [], lastCheckpointId: null } });
    expect(held()).toHaveLength(1);
    expect(stage.world.running.has(sandboxId)).toBe(false);
  });

  test('a plan says what is in no checkpoint, and changes nothing', async () => {
    const { stage, sessionId, sandboxId, end, held } = await forked();
    stage.edit('web', { 'only.txt': 'in the fork' }, sandboxId);
    expect(await end({ dryRun: true })).toMatchObject({
      status: 'PLANNED',
      discarded: { sandboxId, changed: ['web'], lastCheckpointId: null, uncaptured: [] },
    });
    expect(held()).toHaveLength(1);
    expect(stage.store.tables.sessions.get(sessionId)?.status).toBe('active');
    expect(stage.world.running.has(sandboxId)).toBe(true);
  });

  test('what cannot be captured keeps it, unless that is dropped on purpose', async () => {
    const { stage, sessionId, sandboxId, end } = await forked();
    stage.world.beforeAnswer = (report) => ({
      ...report,
      failures: [UNCAPTURED],
      repositories: report.repositories.map((one) =>
        one.path === 'api' ? { path: 'api', state: 'failed' as const, changed: false } : one,
      ),
    });
    const { message } = await failing(end(), 'UncapturedWork');
    expect(message).toContain('api: no access');
    expect(stage.store.tables.sessions.get(sessionId)?.status).toBe('active');
    expect(stage.world.running.has(sandboxId)).toBe(true);
    expect(await end({ dryRun: true })).toMatchObject({ discarded: { uncaptured: [UNCAPTURED] } });
    expect(await end({ dropUncaptured: true })).toMatchObject({
      discarded: { uncaptured: [UNCAPTURED], lastCheckpointId: null },
    });
    expect(stage.world.running.has(sandboxId)).toBe(false);
  });

  test('work of after its end is not destroyed either', async () => {
    const { stage, sandboxId, end } = await forked();
    await end({ discard: false });
    stage.edit('web', { 'later.txt': 'later' }, sandboxId);
    const { message } = await failing(end(), 'UncapturedWork');
    expect(message).toContain('web');
    expect(stage.world.running.has(sandboxId)).toBe(true);
    await end({ dropUncaptured: true });
    expect(stage.world.running.has(sandboxId)).toBe(false);
  });

  test.each(['death', 'error'] as const)(
    'nothing is lost by a %s at any call, and the same call again discards it',
    async (kind) => {
      let met = 0;
      for (let at = 1; ; at += 1) {
        const { stage, sessionId, sandboxId, end } = await forked();
        stage.edit('web', { 'only.txt': 'in the fork' }, sandboxId);
        const before = everythingHeld(stage);
        const counter = createCounter({ at, when: at % 2 === 0 ? 'before' : 'after', kind });
        await stage
          .instance(counter)
          .endSession({ sessionId, discard: true })
          .catch(() => undefined);
        if (!counter.fired) break;
        met += 1;
        const held = () => [...before].filter((content) => !everythingHeld(stage).has(content));
        expect(held(), `after call ${at}`).toEqual([]);
        stage.passMs(900_000);
        await end();
        expect(held(), `after call ${at}, and again`).toEqual([]);
        expect(stage.world.running.has(sandboxId)).toBe(false);
      }
      expect(met).toBeGreaterThan(10);
    },
  );

  test('one whose sandbox is gone ends, and the same call again answers', async () => {
    const { stage, sandboxId, end } = await forked();
    await stage.world.sandboxes.kill(sandboxId);
    const first = await end();
    expect(first).toMatchObject({ status: 'ENDED', discarded: { isRunning: false, lastCheckpointId: null } });
    expect(await end()).toEqual(first);
  });
});
