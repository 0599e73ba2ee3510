import { describe, expect, test } from 'vitest';
import { diffInput } from '../../contract/checkpoint-inputs.ts';
import { createDiff } from '../../core/checkpoint/capture/diff.ts';
import type { Repositories, RepositoryDiff } from '../../core/checkpoint/ports/repositories.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import { errorOf } from '../support/error-of.ts';
import { createWorkingStage, SESSION, type Stage } from '../support/fakes/stage.ts';

type Request = Parameters<Repositories['diff']>[1];

/** The use case over the fakes, with a diff that says every compared pair differs in one line. */
const createScene = (stage: Stage, answer: Partial<RepositoryDiff> = {}) => {
  const requests: Request[] = [];
  const repositories: Repositories = {
    ...stage.world.repositories,
    diff: async (_sandbox, request) => {
      requests.push(request);
      return request.pairs.map(({ path }) => ({
        path,
        diff: `diff of ${path}`,
        truncated: false,
        files: 1,
        added: 1,
        deleted: 0,
        missing: false,
        ...answer,
      }));
    },
  };
  const diff = createDiff({ ...stage.instance().deps, repositories });
  return {
    requests,
    diff: (from: string, to: string, more: { path?: string; sandboxId?: string } = {}) =>
      diff({ sessionId: SESSION, from, to, ...more }, { deadlineMs: stage.clock.now().getTime() + 900_000 }),
  };
};

const paths = (request: Request | undefined): string[] => (request?.pairs ?? []).map(({ path }) => path);

describe('comparing two points of a timeline', () => {
  test('asks the sandbox only about repositories that differ, and answers all of them', async () => {
    const scene = createScene(await createWorkingStage());
    const answer = await scene.diff('m1', 'm2');
    expect(paths(scene.requests[0])).toEqual(['late', 'web']);
    expect(answer.repositories.map(({ path, files }) => [path, files])).toEqual([
      ['api', 0],
      ['late', 1],
      ['notes', 0],
      ['web', 1],
    ]);
    expect(answer.warnings).toEqual([]);
  });

  test('compares a repository that was not there yet with nothing', async () => {
    const scene = createScene(await createWorkingStage());
    await scene.diff('m1', 'm2');
    const late = scene.requests[0]?.pairs.find(({ path }) => path === 'late');
    expect(late).toMatchObject({ path: 'late', from: null, to: expect.any(String) });
  });

  test('captures now without storing anything', async () => {
    const stage = await createWorkingStage();
    const before = structuredClone(stage.store.tables);
    const scene = createScene(stage);
    await scene.diff('head', 'now');
    expect(paths(scene.requests[0])).toEqual(['api']);
    expect(stage.store.tables).toEqual(before);
  });

  test('takes checkpoint ids as well', async () => {
    const stage = await createWorkingStage();
    const [baseline, first] = stage.checkpoints();
    const scene = createScene(stage);
    await scene.diff(baseline?.checkpointId ?? '', first?.checkpointId ?? '');
    expect(paths(scene.requests[0])).toEqual(['api']);
  });

  test('does not ask the sandbox when nothing differs', async () => {
    const scene = createScene(await createWorkingStage());
    expect((await scene.diff('m2', 'head')).repositories.every(({ files }) => files === 0)).toBe(true);
    expect(scene.requests).toEqual([]);
  });

  test('compares one repository when one is asked for, and names the others when it is unknown', async () => {
    const scene = createScene(await createWorkingStage());
    expect((await scene.diff('m1', 'm2', { path: 'web' })).repositories).toHaveLength(1);
    await expect(scene.diff('m1', 'm2', { path: 'wep' })).rejects.toMatchObject(
      errorOf('InvalidInput', 'api, late, notes, web'),
    );
  });

  test('tells to rehydrate when the sandbox lost the captures', async () => {
    const scene = createScene(await createWorkingStage(), { missing: true });
    await expect(scene.diff('m1', 'm2')).rejects.toMatchObject(
      errorOf('BundleMissing', 'walkback-rehydrate'),
    );
  });

  test('tells to rehydrate when the sandbox is gone', async () => {
    const stage = await createWorkingStage();
    const scene = createScene(stage);
    await stage.world.sandboxes.kill(stage.session().sandboxId);
    await expect(scene.diff('m1', 'm2')).rejects.toMatchObject(
      errorOf('SandboxNotFound', /walkback rehydrate --to POINT.*walkback diff --sandbox ID/),
    );
    await stage.instance().endSession();
    await expect(scene.diff('m1', 'm2')).rejects.toMatchObject({
      message: expect.stringContaining('An ended session can be compared so, too.'),
    });
    // An ended session is never resumed, so nobody is told to.
    await expect(stage.instance().context()).rejects.toMatchObject(
      errorOf('SandboxNotFound', /^(?!.*resume).*has ended.*mode "review".*walkback diff --sandbox ID/),
    );
  });

  test('refuses unknown points and sandboxes', async () => {
    const scene = createScene(await createWorkingStage());
    await expect(scene.diff('nope', 'now')).rejects.toMatchObject({ name: 'MessageNotFound' });
    await expect(scene.diff('cp-00000099', 'now')).rejects.toMatchObject(
      errorOf('MessageNotFound', /taken for a message id.*by its whole id/),
    );
    await expect(scene.diff('cp-00000099-0badcafe', 'now')).rejects.toMatchObject({
      name: 'CheckpointNotFound',
    });
    await expect(scene.diff('m1', 'm2', { sandboxId: 'other' })).rejects.toMatchObject({
      name: 'SandboxNotFound',
    });
  });

  test.each([
    [{ file: 'a.ts' }, 'file'],
    [{ path: 'api', context: 25 }, 'context'],
    [{ path: 'api', file: 'a.ts', context: 2_001 }, 'context'],
  ])('%j needs what it belongs to', (more, field) => {
    const asked = { sessionId: SESSION, from: 'm1', to: 'now', ...more };
    expect(() => parseInput(diffInput(), asked)).toThrow(field);
  });

  test.each(['../x', '', 'a b', '-x'])('refuses %j as a point before anything is asked', (from) => {
    expect(() => parseInput(diffInput(), { sessionId: SESSION, from, to: 'now' })).toThrow('not valid');
  });
});
