/** What each operation promises, one sentence per test, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import type { WalkbackError } from '../../core/errors.ts';
import type { CaptureReport } from '../../core/ports.ts';
import { failing } from '../support/fakes/failing.ts';
import { sha1 } from '../support/fakes/fake-bundle.ts';
import { createStage, createWorkingStage, REPOSITORIES, SANDBOX, SESSION } from '../support/fakes/stage.ts';

const newStage = () => {
  const stage = createStage();
  stage.world.addSandbox(SANDBOX, REPOSITORIES);
  return stage;
};

describe('start-session', () => {
  test('answers the contract', async () => {
    const answer = await newStage().instance().startSession();
    expect(answer).toEqual({
      sessionId: SESSION,
      epoch: 1,
      checkpointId: expect.stringMatching(/^cp-00000001-/),
      repositories: [
        { path: 'api', branch: 'main', head: sha1('api'), commits: 1 },
        { path: 'notes', branch: 'main', head: null, commits: 0 },
        { path: 'web', branch: 'main', head: sha1('web'), commits: 1 },
      ],
      warnings: [],
    });
  });

  test('makes an id when none is given', async () => {
    const { sessionId } = await newStage().instance().startSession({ sessionId: undefined });
    expect(sessionId).toMatch(/^s-[0-9a-z]+-[0-9a-f]{10}$/);
  });

  test('gives the same answer to the same request, and SessionConflict to another', async () => {
    const stage = newStage();
    const first = await stage.instance().startSession();
    expect(await stage.instance().startSession()).toEqual(first);
    await failing(stage.instance().startSession({ exclude: ['*.log'] }), 'SessionConflict');
  });

  test('two starts at once make one session', async () => {
    const stage = newStage();
    const [a, b] = await Promise.all([stage.instance().startSession(), stage.instance().startSession()]);
    expect(a).toEqual(b);
    expect(stage.checkpoints()).toHaveLength(1);
  });

  test('says what to do where there is no repository', async () => {
    const stage = createStage();
    stage.world.addSandbox(SANDBOX, {});
    const { message } = await failing(stage.instance().startSession(), 'NoRepositories');
    expect(message).toContain('git init');
    expect(stage.store.tables.sessions.size).toBe(0);
  });

  test('does not make a base again that another session has stored', async () => {
    const stage = newStage();
    await stage.instance().startSession();
    const known: string[][] = [];
    const capture = stage.world.repositories.capture.bind(stage.world.repositories);
    stage.world.repositories.capture = (sandbox, request, upload) => {
      known.push(request.knownBases);
      return capture(sandbox, request, upload);
    };
    await stage.instance().startSession({ sessionId: 'other' });
    expect(known).toEqual([[`sha1-${sha1('api')}`, `sha1-${sha1('web')}`]]);
    expect([...stage.bucket.objects.keys()].filter((key) => key.startsWith('bases/'))).toHaveLength(2);
  });
});

describe('checkpoint', () => {
  test('answers the contract', async () => {
    const stage = newStage();
    await stage.instance().startSession();
    stage.edit('api', { 'a.txt': 'two' });
    const answer = await stage.instance().checkpoint('m1', 't1', { epoch: 1 });
    expect(answer).toMatchObject({ seq: 2, epoch: 1, complete: true, failures: [], skipped: [] });
    expect(Object.keys(answer).toSorted()).toEqual([
      'checkpointId',
      'complete',
      'epoch',
      'failures',
      'repositories',
      'seq',
      'skipped',
    ]);
    const [api, notes] = answer.repositories;
    expect(api).toEqual({
      path: 'api',
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      changed: true,
      bundleBytes: expect.any(Number),
    });
    expect(notes).toMatchObject({ path: 'notes', changed: false, bundleBytes: 0 });
  });

  test('is taken once per tool execution', async () => {
    const stage = await createWorkingStage();
    const first = await stage.instance().checkpoint('m3', 't3');
    stage.edit('api', { 'a.txt': 'four' });
    expect(await stage.instance().checkpoint('m3', 't3')).toEqual(first);
    await failing(stage.instance().checkpoint('m9', 't3'), 'RequestConflict');
  });

  test('records a repository that vanished, and one that came', async () => {
    const stage = await createWorkingStage();
    stage.remove('web');
    stage.edit('fresh', { 'f.txt': 'new' });
    const { repositories, complete } = await stage.instance().checkpoint('m3', 't3');
    expect(complete).toBe(true);
    expect(repositories.find(({ path }) => path === 'web')).toMatchObject({ commit: null, changed: false });
    expect(repositories.find(({ path }) => path === 'fresh')).toMatchObject({ changed: true });
  });

  test('refuses an older epoch, and one that never was', async () => {
    const stage = await createWorkingStage();
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    const older = await failing(stage.instance().checkpoint('m3', 't3', { epoch: 1 }), 'StaleEpoch');
    expect(older.message).toContain('current epoch 2');
    await failing(stage.instance().checkpoint('m3', 't3', { epoch: 9 }), 'StaleEpoch');
    await stage.instance().checkpoint('m3', 't3', { epoch: 2 });
  });

  test('says how to go on when the sandbox is gone', async () => {
    const stage = await createWorkingStage();
    stage.world.running.delete(SANDBOX);
    const { message } = await failing(stage.instance().checkpoint('m3', 't3'), 'SandboxNotFound');
    expect(message).toContain('mode "resume"');
  });

  test('carries on after the shadow was deleted, with a new chain', async () => {
    const stage = await createWorkingStage();
    stage.world.running.get(SANDBOX)?.commits.clear();
    await stage.instance().checkpoint('m3', 't3');
    const head = stage.checkpoints().at(-1);
    const api = head?.repositories.find(({ path }) => path === 'api');
    expect(api).toMatchObject({ changed: true, link: 0 });
  });

  test('unknown and ended sessions have their own errors', async () => {
    const stage = await createWorkingStage();
    await failing(stage.instance().checkpoint('m3', 't3', { sessionId: 'nobody' }), 'SessionNotFound');
    await stage.instance().endSession();
    await failing(stage.instance().checkpoint('m3', 't3'), 'SessionEnded');
  });

  test('sends large bundles straight to the bucket, and verifies them there', async () => {
    const stage = await createWorkingStage();
    stage.edit('api', { 'big.bin': 'x'.repeat(9 * 1024 ** 2) });
    const { repositories, complete } = await stage.instance().checkpoint('m3', 't3');
    expect(complete).toBe(true);
    expect(repositories[0]?.bundleBytes).toBeGreaterThan(9 * 1024 ** 2);
    const before = stage.world.filesOf(SANDBOX);
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    await stage.instance().rollback({ messageId: 'm3', requestId: 'r2' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
  });

  test('two at once make two checkpoints, the second on top of the first', async () => {
    const stage = await createWorkingStage();
    const [a, b] = await Promise.all([
      stage.instance().checkpoint('m3', 't3'),
      stage.instance().checkpoint('m3', 't4'),
    ]);
    expect(new Set([a.seq, b.seq])).toEqual(new Set([4, 5]));
    expect(stage.checkpoints().map(({ seq, parentSeq }) => [seq, parentSeq])).toEqual([
      [1, null],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
    ]);
    expect(stage.session()).toMatchObject({ messageCount: 3, headSeq: 5 });
  });

  test('one that lost the race looks again, and holds what is there then', async () => {
    const stage = await createWorkingStage();
    stage.world.duringCapture = async () => {
      stage.world.duringCapture = async () => undefined;
      stage.edit('api', { 'a.txt': 'written while the other was looking' });
      await stage.instance().checkpoint('m3', 'faster');
    };
    const { seq, repositories } = await stage.instance().checkpoint('m3', 'slower');
    expect(seq).toBe(5);
    expect(repositories[0]).toMatchObject({ path: 'api', changed: false });
  });

  test('the same one twice at once is one checkpoint', async () => {
    const stage = await createWorkingStage();
    const [a, b] = await Promise.all([
      stage.instance().checkpoint('m3', 't3'),
      stage.instance().checkpoint('m3', 't3'),
    ]);
    expect(a).toEqual(b);
    expect(stage.checkpoints()).toHaveLength(4);
  });

  test('a rollback that begins while it looks makes it stale', async () => {
    const stage = await createWorkingStage();
    let begun: Promise<unknown> | undefined;
    stage.world.duringCapture = async () => {
      stage.world.duringCapture = async () => undefined;
      begun = stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
      await begun;
    };
    await failing(stage.instance().checkpoint('m3', 't3'), 'StaleEpoch');
    await begun;
    expect(stage.checkpoints().map(({ toolExecutionId }) => toolExecutionId)).not.toContain('t3');
  });

  test('is refused while a rollback runs, and says until when', async () => {
    const stage = await createWorkingStage();
    let refused: WalkbackError | undefined;
    const rolling = stage.instance();
    stage.world.duringCapture = async () => {
      stage.world.duringCapture = async () => undefined;
      refused = await failing(stage.instance().checkpoint('m3', 't3'), 'RollbackInProgress');
    };
    await rolling.rollback({ messageId: 'm1', requestId: 'r1' });
    expect(refused?.retryable).toBe(true);
    expect(refused?.details).toMatchObject({ requestId: 'r1', untilMs: expect.any(Number) });
  });
});

describe('a sandbox that lies (C10)', () => {
  const lie = async (change: (report: CaptureReport) => CaptureReport) => {
    const stage = await createWorkingStage();
    stage.world.beforeAnswer = change;
    const answer = await stage.instance().checkpoint('m3', 't3');
    return { answer, stage };
  };
  const withBundle = (
    report: CaptureReport,
    change: (bundle: CaptureReport['bundles'][number]) => Partial<CaptureReport['bundles'][number]>,
  ): CaptureReport => ({
    ...report,
    bundles: report.bundles.map((bundle) => ({ ...bundle, ...change(bundle) })),
  });
  const withRepository = (
    report: CaptureReport,
    change: Partial<CaptureReport['repositories'][number]>,
  ): CaptureReport => ({
    ...report,
    repositories: report.repositories.map((one) => (one.path === 'api' ? { ...one, ...change } : one)),
  });

  test.each<[string, (report: CaptureReport) => CaptureReport]>([
    ['bytes that do not hash', (report) => withBundle(report, () => ({ sha256: '0'.repeat(64) }))],
    ['a size that is not so', (report) => withBundle(report, () => ({ sizeBytes: 1 }))],
    ['no bundle', (report) => ({ ...report, bundles: [] })],
    ['a bundle of another commit', (report) => withBundle(report, () => ({ commit: sha1('x') }))],
    ['a commit the bundle does not hold', (report) => withRepository(report, { commit: sha1('x') })],
    ['no commit id', (report) => withRepository(report, { commit: '$(id)' })],
    ['"unchanged" for another tree', (report) => withRepository(report, { changed: false })],
    [
      'a base with a path in its name',
      (report) => withRepository(report, { chain: 'rebase', base: '../../x' }),
    ],
    ['nothing uploaded', (report) => withBundle(report, () => ({ bytes: undefined }))],
    [
      'silence about a repository',
      (report) => ({ ...report, repositories: report.repositories.filter(({ path }) => path !== 'api') }),
    ],
  ])('%s fails that repository alone, and the checkpoint says so', async (_name, change) => {
    const { answer, stage } = await lie(change);
    expect(answer.complete).toBe(false);
    expect(answer.failures.map(({ path }) => path)).toEqual(['api']);
    expect(answer.repositories.find(({ path }) => path === 'api')).toMatchObject({
      commit: null,
      changed: false,
    });
    // The next honest capture goes on from the last good one.
    stage.world.beforeAnswer = (report) => report;
    const next = await stage.instance().checkpoint('m3', 't4');
    expect(next.complete).toBe(true);
  });

  test('a path that leads out of the root is not stored', async () => {
    const { answer } = await lie((report) => ({
      ...report,
      repositories: [...report.repositories, { path: '../../etc', state: 'captured', changed: false }],
    }));
    expect(answer.repositories.map(({ path }) => path)).not.toContain('../../etc');
  });

  test('nothing captured at all is an error, and no checkpoint', async () => {
    const stage = await createWorkingStage();
    stage.world.beforeAnswer = (report) => ({
      ...report,
      repositories: report.repositories.map(({ path }) => ({ path, state: 'failed', changed: false })),
      failures: [{ path: 'api', reason: 'disk full' }],
    });
    const { message } = await failing(stage.instance().checkpoint('m3', 't3'), 'CaptureFailed');
    expect(message).toContain('disk full');
    expect(stage.checkpoints()).toHaveLength(3);
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
    });
    stage.passMs(1_000_000);
    expect(await stage.instance().endSession()).toEqual(first);
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

describe('a long session', () => {
  test('never has more than 64 links below a checkpoint, and all of them restore elsewhere', async () => {
    const stage = newStage();
    await stage.instance().startSession();
    const recorded: Record<string, Record<string, string>>[] = [];
    for (let at = 1; at <= 150; at++) {
      stage.edit('api', { 'a.txt': `version ${at}` });
      await stage.instance().checkpoint(`m${at}`, `t${at}`);
      recorded.push(stage.world.filesOf(SANDBOX));
    }
    const links = stage.checkpoints().map(({ repositories }) => repositories[0]?.link ?? -1);
    expect(Math.max(...links)).toBe(63);
    expect(links.filter((link) => link === 0)).toHaveLength(3);
    const bases = [...stage.bucket.objects.keys()].filter((key) => key.startsWith('bases/'));
    expect(bases).toHaveLength(2);
    for (const at of [1, 63, 64, 65, 150]) {
      const { sandboxId } = await stage.instance().rehydrate({ messageId: `m${at}` });
      expect(stage.world.filesOf(sandboxId)).toEqual(recorded[at - 1]);
    }
  });
});

describe('retention', () => {
  test('a chain outlives every checkpoint that stands on it, however long the session lasts', async () => {
    const stage = newStage();
    await stage.instance().startSession();
    for (let day = 1; day <= 100; day++) {
      stage.passMs(86_400_000);
      if (day % 3 === 0) stage.edit('api', { 'a.txt': `day ${day}` });
      await stage.instance().checkpoint(`m${day}`, `t${day}`);
      const { links, bases } = stage.store.tables;
      const head = stage.checkpoints().at(-1);
      for (const { chainId, base } of head?.repositories ?? []) {
        const below = [...links.values()].filter((link) => link.chainId === chainId);
        expect(Math.min(...below.map(({ expiresAt }) => expiresAt))).toBeGreaterThanOrEqual(
          head?.expiresAt ?? 0,
        );
        if (base !== undefined) {
          expect(bases.get(base)?.expiresAt).toBeGreaterThanOrEqual(head?.expiresAt ?? 0);
        }
      }
    }
  });
});
