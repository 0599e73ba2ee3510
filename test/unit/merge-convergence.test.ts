/**
 * W1 to W5 under every crash: a fork, a merge, a revert and a partial rollback die or fail at each port call, before and after
 * it had its effect, and are called again, or never. Every ninth of them, others each time; all of them in
 * `npm run test:long`.
 */
import { describe, expect, test } from 'vitest';
import { createCounter, FAULTS } from '../support/fakes/faults.ts';
import { journalOf } from '../support/fakes/rollbacks.ts';
import { createWorkingStage, SANDBOX, SESSION, type Stage } from '../support/fakes/stage.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

const STEP = WHOLE ? 1 : 9;
const FIRST = 1 + (printedSeed('convergence of merges') % STEP);

interface Forked {
  stage: Stage;
  forkId: string;
  forkSandbox: string;
}

type Run = (forked: Forked, instance: ReturnType<Stage['instance']>) => Promise<unknown>;

const forked = async (): Promise<Forked> => {
  const stage = await createWorkingStage();
  const { sessionId, sandboxId } = await stage.instance().fork();
  return { stage, forkId: sessionId, forkSandbox: sandboxId };
};

/** Work on both sides: files, a repository made and one gone in the fork. */
const diverged = async (): Promise<Forked> => {
  const all = await forked();
  const { stage, forkId, forkSandbox } = all;
  stage.edit('web', { 'fork.txt': 'fork' }, forkSandbox);
  stage.edit('made', { 'made.txt': 'in the fork' }, forkSandbox);
  stage.remove('late', forkSandbox);
  await stage.instance().checkpoint('f1', 'f1', { sessionId: forkId });
  stage.edit('web', { 'mine.txt': 'mine' });
  return all;
};

/** Every object that a checkpoint needs is in the bucket, and every object is indexed with an expiry. */
const expectStored = ({ store, bucket, checkpoints }: Stage, name: string): void => {
  for (const key of bucket.objects.keys()) expect(store.tables.uploads.has(key), name).toBe(true);
  for (const { sessionId, repositories } of checkpoints()) {
    for (const { state, commit, base, baseOwner = '', chainId } of repositories) {
      if (state !== 'captured') continue;
      const link = [...store.tables.links.values()].find(
        (one) => one.sessionId === sessionId && one.commit === commit && one.chainId === chainId,
      );
      expect(link && bucket.objects.has(link.bundle.key), name).toBe(true);
      const held = store.tables.bases.get(`${baseOwner}\n${base}`)?.key ?? '';
      if (base !== undefined) expect(bucket.objects.has(held), name).toBe(true);
    }
  }
};

const sessionOf = ({ store }: Stage, sessionId: string) => {
  const session = store.tables.sessions.get(sessionId);
  if (session === undefined) throw new Error(`no session ${sessionId}`);
  return session;
};

/** What must be the same however often it was interrupted. */
const outcome = ({ stage, forkId, forkSandbox }: Forked) => ({
  sandboxes: stage.world.running.size,
  source: stage.world.filesOf(SANDBOX),
  fork: stage.world.filesOf(forkSandbox),
  sessions: [SESSION, forkId].map((id) => {
    const { epoch, busy, status, headSeq } = sessionOf(stage, id);
    const head = [...stage.store.tables.checkpoints.values()].find(
      (one) => one.sessionId === id && one.seq === headSeq,
    );
    return { epoch, busy, status, reason: head?.reason, from: head?.mergedFrom?.sessionId };
  }),
});

const interruptEverywhere = async (
  prepare: () => Promise<Forked>,
  run: Run,
  check: (forked: Forked, name: string) => Promise<void>,
  minimum: number,
): Promise<void> => {
  const plain = await prepare();
  await run(plain, plain.stage.instance());
  let total = 0;
  for (const fault of FAULTS) {
    for (let at = FIRST; ; at += STEP) {
      const all = await prepare();
      const counter = createCounter({ ...fault, at });
      const first = await run(all, all.stage.instance(counter)).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      if (!counter.fired) break;
      total += 1;
      const name = `${fault.kind} ${fault.when} call ${at}, ${counter.calls[at - 1]}`;
      if (first !== undefined) expect(first.name, name).toMatch(/^(Death|StorageUnavailable)$/);
      // An instance that died holds what it held until its time is up.
      const again = await run(all, all.stage.instance()).catch(async (error: unknown) => {
        expect((error as Error).name, name).toBe('RollbackInProgress');
        all.stage.passMs(1_000_000);
        return run(all, all.stage.instance());
      });
      expect(again, name).toBeDefined();
      expect(outcome(all), name).toEqual(outcome(plain));
      expectStored(all.stage, name);
      await check(all, name);
    }
  }
  expect(total).toBeGreaterThan(minimum / STEP - 1);
};

const merge: Run = ({ forkId }, instance) => instance.merge({ from: forkId, into: SESSION, requestId: 'g1' });
const back: Run = ({ forkId }, instance) => instance.merge({ from: SESSION, into: forkId, requestId: 'g1' });
const undo = ({ stage }: Forked) => {
  const checkpointId = journalOf(stage, 'g1')?.result?.undoCheckpointId ?? '';
  return stage.instance().rollback({ checkpointId, requestId: 'undo' });
};

describe('interrupted, and called again', () => {
  test('a session is forked once, in one sandbox', async () => {
    const prepare = async (): Promise<Forked> => {
      const stage = await createWorkingStage();
      return { stage, forkId: '', forkSandbox: '' };
    };
    const plain = await prepare();
    const answer = await plain.stage.instance().fork();
    let total = 0;
    for (const fault of FAULTS) {
      for (let at = FIRST; ; at += STEP) {
        const { stage } = await prepare();
        const counter = createCounter({ ...fault, at });
        await stage
          .instance(counter)
          .fork()
          .catch(() => undefined);
        if (!counter.fired) break;
        total += 1;
        const name = `${fault.kind} ${fault.when} call ${at}, ${counter.calls[at - 1]}`;
        const again = await stage.instance().fork();
        expect(again.sessionId, name).toBe(answer.sessionId);
        expect(stage.world.running.size, name).toBe(2);
        expect(stage.world.filesOf(again.sandboxId), name).toEqual(
          plain.stage.world.filesOf(answer.sandboxId),
        );
        expect(sessionOf(stage, again.sessionId), name).toMatchObject({ status: 'active', headSeq: 1 });
        expect(sessionOf(stage, SESSION).busy, name).toBeUndefined();
        expectStored(stage, name);
      }
    }
    expect(total).toBeGreaterThan(60 / STEP - 1);
  });

  test('a fork is merged once, and that can be undone', async () => {
    const before = (await diverged()).stage.world.filesOf(SANDBOX);
    await interruptEverywhere(
      diverged,
      merge,
      async (all, name) => {
        expect(Object.keys(all.stage.world.filesOf(SANDBOX)), name).toEqual(['api', 'made', 'notes', 'web']);
        await undo(all);
        expect(all.stage.world.filesOf(SANDBOX), name).toEqual(before);
      },
      60,
    );
  });

  test('a source is brought into its fork once', async () => {
    const prepare = async (): Promise<Forked> => {
      const all = await diverged();
      await all.stage.instance().checkpoint('m3', 't3');
      return all;
    };
    await interruptEverywhere(prepare, back, async () => undefined, 60);
  });

  test('a message is taken back once, and that can be undone', async () => {
    const before = (await diverged()).stage.world.filesOf(SANDBOX);
    await interruptEverywhere(
      diverged,
      (_, instance) => instance.revert({ messageId: 'm2', requestId: 'g1' }),
      async (all, name) => {
        await undo(all);
        expect(all.stage.world.filesOf(SANDBOX), name).toEqual(before);
      },
      60,
    );
  });

  test('a file goes back once, and that can be undone', async () => {
    const before = (await diverged()).stage.world.filesOf(SANDBOX);
    await interruptEverywhere(
      diverged,
      (_, instance) => instance.rollback({ messageId: 'm1', requestId: 'g1', paths: ['web/w.txt', 'api'] }),
      async (all, name) => {
        await undo(all);
        expect(all.stage.world.filesOf(SANDBOX), name).toEqual(before);
      },
      60,
    );
  });
});

describe('died for good', () => {
  test('a merge is settled by the next checkpoint: all of it is there, or nothing', async () => {
    const plain = await diverged();
    const before = plain.stage.world.filesOf(SANDBOX);
    await merge(plain, plain.stage.instance());
    const after = plain.stage.world.filesOf(SANDBOX);
    let total = 0;
    for (const when of ['before', 'after'] as const) {
      for (let at = FIRST; ; at += STEP) {
        const all = await diverged();
        const counter = createCounter({ at, when, kind: 'death' });
        await merge(all, all.stage.instance(counter)).catch(() => undefined);
        if (!counter.fired) break;
        total += 1;
        const name = `${when} ${counter.calls[at - 1]} (${at})`;
        all.stage.passMs(1_000_000);
        await all.stage.instance().checkpoint('m4', 't4');
        expect(all.stage.session().busy, name).toBeUndefined();
        const files = all.stage.world.filesOf(SANDBOX);
        const isThere = 'made' in files;
        expect(files, name).toEqual(isThere ? after : before);
        expect(all.stage.world.running.size, name).toBe(2);
        // What is not there can still be merged; what is there is not merged twice.
        const next = await all.stage
          .instance()
          .merge({ from: all.forkId, into: SESSION, requestId: 'another' });
        expect(next.status, name).toBe(isThere ? 'NOTHING' : 'APPLIED');
        expect(all.stage.world.filesOf(SANDBOX), name).toEqual(after);
        expectStored(all.stage, name);
      }
    }
    expect(total).toBeGreaterThan(30 / STEP - 1);
  });
});

/** As when its retention is over: nothing of it is stored any more. */
const expire = ({ store, bucket }: Stage, sessionId: string): void => {
  const { sessions, checkpoints, links } = store.tables;
  sessions.delete(sessionId);
  for (const [name, one] of checkpoints) if (one.sessionId === sessionId) checkpoints.delete(name);
  for (const [name, one] of links) {
    if (one.sessionId !== sessionId) continue;
    links.delete(name);
    bucket.objects.delete(one.bundle.key);
  }
};

describe('what happens meanwhile', () => {
  test('the fork expires, its sandbox too: all of it comes, or nothing, and the session is free', async () => {
    const plain = await diverged();
    const before = plain.stage.world.filesOf(SANDBOX);
    await merge(plain, plain.stage.instance());
    const after = plain.stage.world.filesOf(SANDBOX);
    const ends = new Set<string>();
    for (const when of ['before', 'after'] as const) {
      for (let at = FIRST; ; at += STEP) {
        const all = await diverged();
        const { stage, forkId, forkSandbox } = all;
        const counter = createCounter({ at, when, kind: 'death' });
        await merge(all, stage.instance(counter)).catch(() => undefined);
        if (!counter.fired) break;
        const name = `${when} ${counter.calls[at - 1]} (${at})`;
        expire(stage, forkId);
        stage.world.running.delete(forkSandbox);
        stage.passMs(1_000_000);
        const end = await merge(all, stage.instance()).then(
          () => 'merged',
          (error: unknown) => (error as Error).name,
        );
        ends.add(end);
        expect(stage.world.filesOf(SANDBOX), `${name}: ${end}`).toEqual(end === 'merged' ? after : before);
        expect(end, name).toMatch(/^(merged|SessionNotFound|CheckpointNotFound|BundleMissing)$/);
        expect(stage.session().busy, name).toBeUndefined();
        // The same answer for ever.
        await expect(
          merge(all, stage.instance()).then(
            () => 'merged',
            (error: unknown) => (error as Error).name,
          ),
          name,
        ).resolves.toBe(end);
      }
    }
    if (WHOLE) expect([...ends]).toContain('merged');
  });

  test('the source ends: nothing comes, and the fork is as it was', async () => {
    const all = await diverged();
    const before = all.stage.world.filesOf(all.forkSandbox);
    await all.stage.instance().checkpoint('m3', 't3');
    await all.stage.instance().endSession();
    await expect(merge(all, all.stage.instance())).rejects.toMatchObject({ name: 'SessionEnded' });
    // What the source held goes on to be there for its fork.
    expect(await back(all, all.stage.instance())).toMatchObject({ status: 'APPLIED' });
    expect(all.stage.world.filesOf(all.forkSandbox)).not.toEqual(before);
  });

  test('two forks are merged at once: one after the other, and both are there', async () => {
    const all = await diverged();
    const { stage, forkId } = all;
    const other = await stage.instance().fork({ requestId: 'f2' });
    stage.edit('notes', { 'other.txt': 'other' }, other.sandboxId);
    await stage.instance().checkpoint('o1', 'o1', { sessionId: other.sessionId });
    const inputs = [forkId, other.sessionId].map((from, index) => ({
      from,
      into: SESSION,
      requestId: `at-once-${index}`,
    }));
    const first = await Promise.allSettled(inputs.map((input) => stage.instance().merge(input)));
    for (const one of first) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ name: 'RollbackInProgress' });
    }
    for (const input of inputs) expect((await stage.instance().merge(input)).status).toBe('APPLIED');
    const files = stage.world.filesOf(SANDBOX);
    expect(files['notes']).toMatchObject({ 'other.txt': 'other' });
    expect(files['web']).toMatchObject({ 'fork.txt': 'fork', 'mine.txt': 'mine' });
    expect(stage.session()).toMatchObject({ epoch: 3 });
  });

  test('the fork goes on while it is merged: the same request merges what it held then', async () => {
    const all = await diverged();
    const { stage, forkId, forkSandbox } = all;
    const done = await merge(all, stage.instance());
    stage.edit('web', { 'fork.txt': 'later' }, forkSandbox);
    await stage.instance().checkpoint('f2', 'f2', { sessionId: forkId });
    expect(await merge(all, stage.instance())).toEqual(done);
    expect(stage.world.filesOf(SANDBOX)['web']?.['fork.txt']).toBe('fork');
  });

  test('the source moves on between the plan and the merge: the merge takes what is there now', async () => {
    const all = await diverged();
    const { stage, forkId } = all;
    const input = { from: forkId, into: SESSION, requestId: 'g1' };
    await stage.instance().merge({ ...input, dryRun: true });
    stage.edit('web', { 'fork.txt': 'mine' });
    await stage.instance().checkpoint('m3', 't3');
    const before = stage.world.filesOf(SANDBOX);
    await expect(stage.instance().merge(input)).rejects.toMatchObject({ name: 'ChangesetConflict' });
    expect(stage.world.filesOf(SANDBOX)).toEqual(before);
    expect(stage.session().busy).toBeUndefined();
  });
});

test('work never goes from one tenant to another', async () => {
  const all = await diverged();
  const session = all.stage.store.tables.sessions.get(all.forkId);
  if (session === undefined) throw new Error('no fork');
  session.tenant = 'another';
  await expect(merge(all, all.stage.instance())).rejects.toMatchObject({
    name: 'InvalidInput',
    message: expect.stringContaining('different tenants'),
  });
});
