/**
 * How repositories differ from the checkpoint before: the timeline, in pages of any size, and `changes` say what a comparison of
 * the two checkpoints shows.
 */
import { expect, test } from 'vitest';
import { createReadChanges } from '../../core/checkpoint/content/read-changes.ts';
import type { Checkpoint } from '../../core/checkpoint/model.ts';
import { writeLate } from '../support/fakes/late.ts';
import { createNewStage, createWorkingStage, SESSION, type Stage } from '../support/fakes/stage.ts';
import { randomFrom } from '../support/racing-writer.ts';
import { printedSeed } from '../support/sampling.ts';

type Said = Record<string, string>;

const held = (checkpoint: Checkpoint | undefined): Map<string, string> =>
  new Map(
    (checkpoint?.repositories ?? []).flatMap((one) =>
      one.state === 'captured' ? [[one.path, `${one.tree} ${one.meta}`]] : [],
    ),
  );

/** By looking at both. */
const shown = (checkpoint: Checkpoint, all: readonly Checkpoint[]): Said => {
  if (checkpoint.parentSeq === null) return {};
  const [before, now] = [held(all.find(({ seq }) => seq === checkpoint.parentSeq)), held(checkpoint)];
  const said: Said = {};
  for (const [path, state] of now) {
    if (!before.has(path)) said[path] = 'created';
    else if (before.get(path) !== state) said[path] = 'changed';
  }
  for (const path of before.keys()) if (!now.has(path)) said[path] = 'removed';
  return said;
};

const saidOf = (repositories: readonly { path: string; change?: string | undefined }[]): Said =>
  Object.fromEntries(
    repositories.flatMap(({ path, change }) => (change === undefined ? [] : [[path, change]])),
  );

const toldByTimeline = async (stage: Stage, limit: number): Promise<Record<string, Said>> => {
  const { timeline } = stage.instance();
  const told: Record<string, Said> = {};
  for (let cursor: string | undefined; ; ) {
    const page = await timeline({ sessionId: SESSION, limit, ...(cursor !== undefined && { cursor }) });
    for (const { checkpointId, repositories, reason } of page.checkpoints) {
      told[checkpointId] = saidOf(repositories);
      const changed = repositories.flatMap((one) => (one.changed ? [one.path] : []));
      if (reason !== 'baseline')
        expect(changed.toSorted()).toEqual(Object.keys(told[checkpointId] ?? {}).toSorted());
    }
    ({ cursor } = page);
    if (cursor === undefined) return told;
  }
};

const toldByChanges = async ({ store, bucket, checkpoints }: Stage): Promise<Record<string, Said>> => {
  const readChanges = createReadChanges({ store, bundles: bucket });
  const told: Record<string, Said> = {};
  for (const { checkpointId } of checkpoints()) {
    const { checkpoints: found } = await readChanges({ sessionId: SESSION, checkpointId });
    told[checkpointId] = saidOf(found[0]?.repositories ?? []);
  }
  return told;
};

const expectAgreement = async (stage: Stage, random: () => number): Promise<void> => {
  const all = stage.checkpoints();
  const truth = Object.fromEntries(all.map((one) => [one.checkpointId, shown(one, all)]));
  for (const limit of [1, 1 + Math.floor(random() * 6), 200])
    expect(await toldByTimeline(stage, limit)).toEqual(truth);
  expect(await toldByChanges(stage)).toEqual(truth);
};

/** What an agent and its reviewers do, at random. */
const act = async (stage: Stage, random: () => number, at: number): Promise<void> => {
  const below = (limit: number): number => Math.floor(random() * limit);
  const { checkpoint, rollback, revert } = stage.instance();
  const known = stage.checkpoints().filter(({ detached }) => !detached);
  const checkpointId = known[below(known.length)]?.checkpointId ?? '';
  const path = ['api', 'web', 'notes', 'late'][below(4)] ?? '';
  if (random() < 0.3) stage.remove(path);
  else if (random() < 0.7) stage.edit(path, { 'a.txt': String(below(3)) });
  const requestId = `r${at}`;
  const what = below(10);
  if (what < 6) await checkpoint(`m${at}`, `t${at}`);
  else if (what < 8) await rollback({ checkpointId, requestId });
  else if (what === 8) await rollback({ checkpointId, requestId, paths: [path] }).catch(() => undefined);
  else await revert({ checkpointIds: [checkpointId], requestId }).catch(() => undefined);
};

test('all say what both checkpoints show, whatever was done', async () => {
  const random = randomFrom(printedSeed('repository changes'));
  const kinds = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const stage = createNewStage();
    await stage.instance().startSession();
    for (let at = 1; at <= 15; at++) await act(stage, random, at);
    await expectAgreement(stage, random);
    for (const { repositories } of stage.checkpoints()) {
      for (const { change } of repositories) if (change !== undefined) kinds.add(change);
    }
  }
  expect([...kinds].toSorted()).toEqual(['changed', 'created', 'removed']);
});

test('what other processes wrote changed the repositories it was written in, and no other', async () => {
  const stage = await createWorkingStage();
  stage.edit('web', { 'w.txt': 'three' });
  writeLate(stage, { path: 'api', file: 'log', text: 'late' });
  const { lateWrites } = await stage.instance().rollback({ messageId: 'm1', requestId: 'r1' });
  const stored = stage.checkpoints().find(({ checkpointId }) => checkpointId === lateWrites?.checkpointId);
  expect(saidOf(stored?.repositories ?? [])).toEqual({ api: 'changed' });
  await expectAgreement(stage, () => 0);
});

test('where retention removed the checkpoint before, it says what it said when it was taken', async () => {
  const stage = await createWorkingStage();
  stage.remove('web');
  const { checkpointId, seq } = await stage.instance().checkpoint('m3', 't3');
  const { checkpoints } = stage.store.tables;
  for (const [key, one] of checkpoints) if (one.seq === seq - 1) checkpoints.delete(key);
  expect((await toldByChanges(stage))[checkpointId]).toEqual({ api: 'changed', web: 'removed' });
  expect((await toldByTimeline(stage, 200))[checkpointId]).toEqual({ api: 'changed', web: 'removed' });
});

test('where retention had removed the checkpoint before already, whatever is there has changed', async () => {
  const stage = await createWorkingStage();
  stage.edit('api', { 'a.txt': 'three' });
  const { checkpoints } = stage.store.tables;
  for (const [key, { seq }] of checkpoints) if (seq === stage.session().headSeq) checkpoints.delete(key);
  const { checkpointId, repositories } = await stage.instance().checkpoint('m3', 't3');
  const all = Object.fromEntries(repositories.map(({ path }) => [path, 'changed']));
  expect(Object.keys(all)).toContain('web');
  expect(saidOf(repositories)).toEqual(all);
  expect((await toldByTimeline(stage, 200))[checkpointId]).toEqual(all);
  expect((await toldByChanges(stage))[checkpointId]).toEqual(all);
});
