/** A plan and the call that it is the plan of say the same: whether it works, what changes, and what is warned of. */
import { describe, expect } from 'vitest';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { createGitStage, type GitStage } from '../support/git-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in a whole run. */
const test = sampledTest('plan-agrees', 4);

const BEGIN =
  'mkdir app; cd app; git init -q -b main .; echo a > a; mkdir d; echo x > d/x; echo y > d/y; git add -A; git commit -qm one';
const NEW = 'git init -q -b main .; git add -A; git commit -qm new';

/** What was at the checkpoint, and what happened after it; `before` it and `since`; `paths`: of what goes back. */
const CASES: { name: string; before: string; since: string; paths?: string[]; deleted?: number }[] = [
  {
    name: 'an ignored file stands where a file comes back, by its path',
    before: 'echo then > app/f',
    since: 'cd app; rm f; echo f > .gitignore; echo mine > f',
    paths: ['app/f'],
  },
  {
    name: 'a directory became a repository, and its path goes back',
    before: ':',
    since: `cd app/d; ${NEW}; echo z > z`,
    paths: ['app/d'],
  },
  {
    name: 'a repository became a directory, and its path goes back',
    before: `cd app/d; ${NEW}`,
    since: 'cd app/d; rm -rf .git .agent-shadow; echo z > z',
    paths: ['app/d', 'app'],
  },
  {
    name: 'a directory became a repository',
    before: ':',
    since: `cd app/d; ${NEW}; echo z > z`,
    deleted: 1,
  },
  {
    name: 'a repository became a directory of files of its own',
    before: `mkdir lib; cd lib; echo l > l; ${NEW}`,
    since: 'rm -rf lib; mkdir lib; echo m > lib/m; echo l > lib/l',
  },
  {
    name: 'another repository lost its .git, and a path goes back',
    before: `mkdir -p lib/l; cd lib; echo l > l/l; ${NEW}`,
    since: 'rm -rf lib/.git; echo b > app/a',
    paths: ['app/a'],
  },
  {
    name: 'the repository lost its .git, and a path in it goes back',
    before: ':',
    since: 'rm -rf app/.git',
    paths: ['app/a'],
  },
  {
    name: 'a file that the checkpoint’s rules ignore stays',
    before: 'echo "*.log" > app/.gitignore',
    since: 'cd app; rm .gitignore; echo l > x.log; echo n > n',
    deleted: 1,
  },
];

const said = async (work: ReturnType<GitStage['rollback']>) => {
  try {
    const { repositories, warnings } = await work;
    return {
      repositories: repositories.map(({ path, action, written, deleted }) => ({
        path,
        action,
        written,
        deleted,
      })),
      warnings,
    };
  } catch (error) {
    if (isWalkbackError(error)) return { error: error.name, message: error.message };
    throw error;
  }
};

describe('a plan says what the call does', () => {
  for (const { name, before, since, paths, deleted } of CASES)
    test(name, async () => {
      await using stage = await createGitStage();
      const sandboxId = await stage.addSandbox();
      stage.sh(sandboxId, BEGIN);
      stage.sh(sandboxId, before);
      const { checkpointId } = await stage.start('s1', sandboxId);
      stage.sh(sandboxId, since);
      const more = paths === undefined ? {} : { paths };
      const plan = await said(stage.rollback('s1', 'p1', checkpointId, { ...more, dryRun: true }));
      const done = await said(stage.rollback('s1', 'r1', checkpointId, more));
      expect(plan).toEqual(done);
      expect(done).toHaveProperty('repositories');
      if (deleted === undefined || !('repositories' in done)) return;
      expect(done.repositories?.reduce((sum, one) => sum + one.deleted, 0)).toBe(deleted);
    });
});
