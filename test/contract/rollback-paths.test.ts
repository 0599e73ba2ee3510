/** A rollback of some paths says where they come from, and refuses those that are nowhere, over real git. */
import { describe, expect } from 'vitest';
import { createGitStage } from '../support/git-stage.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('rollback-paths');

const BEGIN =
  'mkdir app other; for r in app other; do (cd $r; git init -q -b main .; echo a > a; mkdir d; echo x > d/x; git add -A; git commit -qm one); done';

const begun = async () => {
  const stage = await createGitStage();
  const sandboxId = await stage.addSandbox();
  stage.sh(sandboxId, BEGIN);
  const first = await stage.start('s1', sandboxId);
  stage.sh(sandboxId, 'echo b > a; echo b > d/x', 'app');
  const second = await stage.checkpoint('s1', 'm2');
  const epoch = async () => (await stage.store.getSession('s1'))?.epoch;
  const read = (path: string) => stage.sh(sandboxId, `cat ${path}`).trim();
  const sh = (script: string) => stage.sh(sandboxId, script, 'app');
  return { stage, first, second, epoch, read, sh, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() };
};

describe('a rollback of some paths', () => {
  test('names the checkpoint that they come from, in the plan, when done, and when asked again', async () => {
    await using world = await begun();
    const { stage, first, second, read } = world;
    const paths = ['app/a'];
    const plan = await stage.rollback('s1', 'p', first.checkpointId, { paths, dryRun: true });
    expect(plan).toMatchObject({ pathsFrom: first.checkpointId, checkpointId: second.checkpointId });
    const done = await stage.rollback('s1', 'r', first.checkpointId, { paths });
    expect(done.pathsFrom).toBe(first.checkpointId);
    expect([first.checkpointId, second.checkpointId]).not.toContain(done.checkpointId);
    expect([read('app/a'), read('app/d/x')]).toEqual(['a', 'b']);
    expect(await stage.rollback('s1', 'r', first.checkpointId, { paths })).toEqual(done);
    expect(await stage.rollback('s1', 'all', first.checkpointId)).not.toHaveProperty('pathsFrom');
  });

  test.each(['first', 'second'] as const)(
    'refuses what is nowhere, going to the %s, and the epoch stays',
    async (point) => {
      await using world = await begun();
      const { stage, epoch } = world;
      const { checkpointId } = world[point];
      const before = await epoch();
      for (const paths of [['app/nowhere'], ['other/nowhere'], ['app/a', 'other/d/nowhere']]) {
        for (const dryRun of [true, false]) {
          const asked = stage.rollback('s1', `r-${paths.join('-')}-${dryRun}`, checkpointId, {
            paths,
            dryRun,
          });
          await expect(asked, `${paths.join(' ')}, ${dryRun}`).rejects.toMatchObject({
            name: 'InvalidInput',
            message: expect.stringContaining(`neither now nor then is there anything at ${paths.at(-1)}`),
          });
        }
      }
      expect(await epoch()).toBe(before);
    },
  );

  test('says what is in their way above them, and takes nothing of it unless it is named', async () => {
    await using world = await begun();
    const { stage, second, sh } = world;
    for (const [name, way, look] of [
      ['file', 'echo mine > d', 'cat d'],
      ['link', 'ln -s a d', 'readlink d'],
    ] as const) {
      sh(`rm -r d; ${way}`);
      const mine = sh(look);
      const paths = ['app/d/x'];
      const to = second.checkpointId;
      const plan = await stage.rollback('s1', `plan-${name}`, to, { paths, dryRun: true });
      expect(plan.conflicts, name).toMatchObject([{ repository: 'app', path: 'd', kind: 'file/directory' }]);
      await expect(stage.rollback('s1', `r-${name}`, to, { paths }), name).rejects.toMatchObject({
        name: 'ChangesetConflict',
        message: expect.stringMatching(/app\/d \(file\/directory.*Name the paths in their way/),
      });
      expect(sh(look), name).toBe(mine);
      const both = await stage.rollback('s1', `both-${name}`, to, { paths: ['app/d/x', 'app/d'] });
      expect(both, name).toMatchObject({ status: 'APPLIED' });
      expect(sh('cat d/x')).toBe('b\n');
    }
  });

  test('to where they are already changes nothing', async () => {
    await using world = await begun();
    const { stage, second, read } = world;
    for (const paths of [['app/a'], ['app/d', 'other/a'], ['other']]) {
      const done = await stage.rollback('s1', `r-${paths.join('-')}`, second.checkpointId, { paths });
      expect(done.repositories.map(({ action }) => action)).toEqual(['unchanged', 'unchanged']);
    }
    expect([read('app/a'), read('other/a')]).toEqual(['b', 'a']);
  });
});
