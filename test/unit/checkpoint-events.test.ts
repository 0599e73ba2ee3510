import { describe, expect, test } from 'vitest';
import { createPublishSessionChanges } from '../../core/checkpoint/session/publish-session-changes.ts';
import { eventsOf, type ItemChange, type StoredItem } from '../../core/checkpoint/session/session-events.ts';
import type { WalkbackEvent } from '../../core/shared/events.ts';
import { createWorkingStage, SESSION } from '../support/fakes/stage.ts';

const names = (change: Omit<ItemChange, 'id'>): string[] =>
  eventsOf({ id: 'e1', ...change }).map(({ name }) => name);

describe('events', () => {
  test('follow the items of a real rollback and a resume', async () => {
    const stage = await createWorkingStage();
    const session = (): StoredItem => ({ kind: 'session', item: structuredClone(stage.session()) });
    const started = session();
    expect(names({ after: started })).toEqual(['session.started']);
    await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
    const rolled = session();
    const [aborted] = eventsOf({ id: 'e2', before: started, after: rolled });
    expect(aborted).toMatchObject({
      id: 'e2:session.aborted',
      name: 'session.aborted',
      detail: { sessionId: SESSION, epoch: 2, previousEpoch: 1 },
    });

    const journal = stage.store.tables.rollbacks.get(`${SESSION}\nr1`);
    if (journal === undefined) throw new Error('no journal');
    const after: StoredItem = { kind: 'rollback', item: journal };
    const before: StoredItem = { kind: 'rollback', item: { ...journal, phase: 'writing' } };
    expect(names({ after: before })).toEqual([]);
    const [completed] = eventsOf({ id: 'e3', before, after });
    expect(completed).toMatchObject({
      name: 'rollback.completed',
      detail: { requestId: 'r1', discardedMessageIds: ['m2'], trimAfterMessageId: 'm1', detached: false },
    });
    expect(names({ before: after, after })).toEqual([]);
    const failed: StoredItem = { kind: 'rollback', item: { ...journal, phase: 'failed' } };
    expect(names({ before, after: failed })).toEqual(['rollback.failed']);

    await stage.instance().rehydrate({ mode: 'resume', requestId: 'h1' });
    const rehydrate = stage.store.tables.rehydrates.get(`${SESSION}\nh1`);
    if (rehydrate === undefined) throw new Error('no journal');
    const done: StoredItem = { kind: 'rehydrate', item: rehydrate };
    expect(names({ after: done })).toEqual(['session.rehydrated']);
    expect(names({ before: rolled, after: session() })).toEqual(['session.aborted']);
    const running = session();
    await stage.instance().endSession();
    expect(names({ before: running, after: session() })).toEqual(['session.ended']);
  });

  test('name the request that aborted the work of an epoch, and not a dead one that holds the session', async () => {
    const stage = await createWorkingStage();
    const before = stage.session();
    const busy = (requestId: string) => ({ kind: 'rollback', requestId, untilMs: 0 }) as const;
    const by = (was: string | undefined, is: string | undefined) => {
      const [aborted] = eventsOf({
        id: 'e',
        before: { kind: 'session', item: { ...before, ...(was && { busy: busy(was) }) } },
        after: { kind: 'session', item: { ...before, epoch: 2, ...(is && { busy: busy(is) }) } },
      });
      return aborted?.detail['requestId'];
    };
    expect(by(undefined, 'rollback')).toBe('rollback');
    expect(by('resume', undefined)).toBe('resume');
    // A rewind, beside it.
    expect(by('dead', 'dead')).toBeUndefined();
  });

  test('name as many paths and messages as an event holds', async () => {
    const stage = await createWorkingStage();
    const [baseline] = stage.checkpoints();
    if (baseline === undefined) throw new Error('no checkpoint');
    const repositories = Array.from({ length: 1500 }, (_, at) => ({
      path: `${at}-`.padEnd(200, 'é'),
      state: 'captured' as const,
      commit: 'c',
      tree: 't',
      meta: 'm',
      changed: true,
      bundleBytes: 1,
    }));
    const [created] = eventsOf({
      id: 'e',
      after: { kind: 'checkpoint', item: { ...baseline, repositories } },
    });
    const named = created?.detail['changedRepositories'] as string[];
    expect(named.length).toBeGreaterThan(300);
    expect(named).toEqual(repositories.slice(0, named.length).map(({ path }) => path));
    expect(Buffer.byteLength(JSON.stringify(created?.detail))).toBeLessThan(240 * 1024);
  });

  test('a checkpoint is announced once, not again when its life is prolonged', async () => {
    const stage = await createWorkingStage();
    const [, second] = stage.checkpoints();
    if (second === undefined) throw new Error('no checkpoint');
    const after: StoredItem = { kind: 'checkpoint', item: second };
    expect(eventsOf({ id: 'e', after })).toMatchObject([
      { name: 'checkpoint.created', detail: { messageId: 'm1', changedRepositories: ['api'] } },
    ]);
    expect(names({ before: after, after })).toEqual([]);
    expect(names({ before: after })).toEqual([]);
  });
});

describe('publish-session-events', () => {
  const prepare = async () => {
    const stage = await createWorkingStage();
    const published: WalkbackEvent[] = [];
    const log = { info: () => undefined, warn: () => undefined };
    const events = { publish: async (more: WalkbackEvent[]) => void published.push(...more) };
    const publish = createPublishSessionChanges({ store: stage.store, bundles: stage.bucket, events, log });
    return { stage, published, events, publish };
  };

  test('an expired link that is an object of its own takes it with it', async () => {
    const { stage, publish } = await prepare();
    const [name, joined] = [...stage.store.tables.links][0] ?? [];
    if (name === undefined || joined === undefined) throw new Error('no link');
    const { at: _at, ...bundle } = joined.bundle;
    const link = { ...joined, bundle };
    stage.store.tables.links.set(name, link);
    const change: ItemChange = { id: 'e', before: { kind: 'link', ...link } };
    await publish([change]);
    expect(stage.bucket.objects.has(link.bundle.key)).toBe(true);
    stage.store.tables.links.delete(name);
    stage.store.tables.uploads.clear();
    await publish([change]);
    expect(stage.bucket.objects.has(link.bundle.key)).toBe(false);
  });

  test('the object of several links stays until its own item expires, and that outlives every link', async () => {
    const { stage, publish } = await prepare();
    const { links, uploads } = stage.store.tables;
    const [link] = links.values();
    if (link === undefined) throw new Error('no link');
    const { key } = link.bundle;
    const sharing = [...links].filter(([, one]) => one.bundle.key === key);
    expect(sharing.length).toBeGreaterThan(1);
    const upload = uploads.get(key);
    if (upload === undefined) throw new Error('no item of the object');
    for (const [name, one] of sharing) {
      expect(upload.expiresAt).toBeGreaterThan(one.expiresAt);
      links.delete(name);
      await publish([{ id: name, before: { kind: 'link', ...one } }]);
      expect(stage.bucket.objects.has(key)).toBe(true);
    }
    await publish([{ id: 'again', before: { kind: 'upload', upload } }]);
    expect(stage.bucket.objects.has(key)).toBe(true);
    uploads.delete(key);
    await publish([{ id: 'gone', before: { kind: 'upload', upload } }]);
    expect(stage.bucket.objects.has(key)).toBe(false);
  });

  test('a base that was written anew keeps its object', async () => {
    const { stage, publish } = await prepare();
    const [base] = stage.store.tables.bases.values();
    if (base === undefined) throw new Error('no base');
    const change: ItemChange = {
      id: 'e',
      before: { kind: 'base', name: base.name, owner: base.owner, bundle: base },
    };
    await publish([change]);
    expect(stage.bucket.objects.has(base.key)).toBe(true);
    stage.store.tables.bases.clear();
    stage.store.tables.uploads.clear();
    await publish([change]);
    expect(stage.bucket.objects.has(base.key)).toBe(false);
  });

  test('after a failure the rest of the batch is to come again', async () => {
    const { stage, published, events, publish } = await prepare();
    const changes: ItemChange[] = stage
      .checkpoints()
      .map((item) => ({ id: String(item.seq), after: { kind: 'checkpoint', item } }));
    const { publish: works } = events;
    let calls = 0;
    events.publish = async (more) => {
      calls++;
      if (calls === 2) throw new Error('no bus');
      await works(more);
    };
    expect(await publish(changes)).toBe(1);
    expect(published).toHaveLength(1);
    events.publish = works;
    expect(await publish(changes.slice(1))).toBeUndefined();
    expect(published.map(({ id }) => id)).toEqual(['1', '2', '3'].map((id) => `${id}:checkpoint.created`));
  });
});
