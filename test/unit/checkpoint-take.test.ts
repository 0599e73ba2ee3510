/** What a checkpoint promises, one sentence per test, over the model of the ports. */
import { describe, expect, test } from 'vitest';
import type { WalkbackError } from '../../core/shared/errors.ts';
import { failing } from '../support/fakes/failing.ts';
import { createNewStage, createWorkingStage, SANDBOX, SESSION } from '../support/fakes/stage.ts';

describe('checkpoint', () => {
  test('answers the contract', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    stage.edit('api', { 'a.txt': 'two' });
    const answer = await stage.instance().checkpoint('m1', 't1', { epoch: 1 });
    expect(answer).toMatchObject({ seq: 2, epoch: 1, complete: true, failures: [], skipped: [] });
    expect(Object.keys(answer).toSorted()).toEqual([
      'checkpointId',
      'complete',
      'epoch',
      'failures',
      'messageId',
      'repositories',
      'seq',
      'skipped',
    ]);
    const [api, notes] = answer.repositories;
    expect(api).toEqual({
      path: 'api',
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      state: 'captured',
      changed: true,
      change: 'changed',
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

  test('belongs to the message whose operation the one before it was taken for, whoever asks', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    const takeFor = async (forMessageId: string | undefined, toolExecutionId: string, epoch: number) => {
      const input = { messageId: undefined, forMessageId, epoch };
      return (await stage.instance().checkpoint('', toolExecutionId, input)).messageId;
    };
    // Before the first message there is none that it could belong to but its own.
    expect(await takeFor('m1', 't1', 1)).toBe('m1');
    expect(await takeFor('m2', 't2', 1)).toBe('m1');
    expect(await takeFor('m3', 't3', 1)).toBe('m2');
    expect(await takeFor(undefined, 't4', 1)).toBe('m3');
    expect(await takeFor(undefined, 't5', 1)).toBe('m3');
    await stage.instance().checkpoint('m4', 't6', { epoch: 1 });
    expect(await takeFor('m5', 't7', 1)).toBe('m4');
    // What m2 did after t2 is taken back by a rollback to it.
    const { checkpointId } =
      stage.checkpoints().find(({ toolExecutionId }) => toolExecutionId === 't2') ?? {};
    await stage.instance().rollback({ checkpointId, requestId: 'r1' });
    expect(await takeFor('m6', 't8', 2)).toBe('m1');
    const messages = await stage.store.listMessages(SESSION);
    expect(messages.map(({ messageId }) => messageId)).toEqual(['m1', 'm2', 'm3', 'm4', 'm5']);
  });

  test('of a session without messages belongs to its own execution, when no message is named', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    expect((await stage.instance().checkpoint('', 't1', { messageId: undefined })).messageId).toBe('t1');
  });

  test('keeps what a message says with a checkpoint of that message only', async () => {
    const stage = createNewStage();
    await stage.instance().startSession();
    const take = (forMessageId: string, toolExecutionId: string) => {
      const message = { role: 'user', text: `text of ${forMessageId}` };
      return stage
        .instance()
        .checkpoint('', toolExecutionId, { messageId: undefined, forMessageId, message });
    };
    await take('m1', 't1');
    await take('m2', 't2');
    await take('m2', 't3');
    expect(await stage.store.listMessages(SESSION)).toMatchObject([
      { messageId: 'm1', title: 'text of m1' },
      { messageId: 'm2', title: 'text of m2' },
    ]);
  });

  test('of before a rollback does not answer an execution of after it', async () => {
    const stage = await createWorkingStage();
    const own = { messageId: undefined, forMessageId: 'm3' };
    const first = await stage.instance().checkpoint('', 't3', { ...own, epoch: 1 });
    expect(await stage.instance().checkpoint('', 't3', { ...own, epoch: 1 })).toEqual(first);
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    await failing(stage.instance().checkpoint('', 't3', { ...own, epoch: 1 }), 'StaleEpoch');
    const known = await failing(
      stage.instance().checkpoint('', 't3', { ...own, epoch: 2 }),
      'RequestConflict',
    );
    expect(known.message).toContain('from before a rollback');
    // Who names no epoch is not fenced.
    expect(await stage.instance().checkpoint('', 't3', own)).toEqual(first);
    await stage.instance().endSession();
    await failing(stage.instance().checkpoint('', 't3', { ...own, epoch: 2 }), 'SessionEnded');
  });

  test('records a repository that vanished, and one that came', async () => {
    const stage = await createWorkingStage();
    stage.remove('web');
    stage.edit('fresh', { 'f.txt': 'new' });
    const { repositories, complete } = await stage.instance().checkpoint('m3', 't3');
    expect(complete).toBe(true);
    expect(repositories.find(({ path }) => path === 'web')).toMatchObject({
      commit: null,
      state: 'absent',
      changed: true,
      change: 'removed',
    });
    expect(repositories.find(({ path }) => path === 'fresh')).toMatchObject({
      changed: true,
      change: 'created',
    });
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

  test('one that comes while a rollback captures makes it look again, and is not lost', async () => {
    const stage = await createWorkingStage();
    stage.world.duringCapture = async () => {
      stage.world.duringCapture = async () => undefined;
      await stage.instance().checkpoint('m3', 't3');
    };
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    const [undo, before] = stage.checkpoints().toReversed();
    expect(before).toMatchObject({ toolExecutionId: 't3', epoch: 1 });
    expect(undo).toMatchObject({ reason: 'rollback', parentSeq: before?.seq, epoch: 2 });
    expect(stage.session()).toMatchObject({ epoch: 2, headSeq: 2 });
    await failing(stage.instance().checkpoint('m4', 't4', { epoch: 1 }), 'StaleEpoch');
  });

  test('is refused while a rollback runs, and says until when', async () => {
    const stage = await createWorkingStage();
    let checkpoint: Promise<WalkbackError> | undefined;
    stage.world.duringRestore = () => {
      checkpoint ??= failing(stage.instance().checkpoint('m3', 't3'), 'RollbackInProgress');
    };
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    const refused = await checkpoint;
    expect(refused?.retryable).toBe(true);
    expect(refused?.details).toMatchObject({ requestId: 'r1', untilMs: expect.any(Number) });
  });
});
