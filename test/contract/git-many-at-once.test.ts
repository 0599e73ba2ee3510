/** What is done to many paths is done by as many commands as for few: none is started for each path. */
import { expect } from 'vitest';
import { commandFaults } from '../support/command-faults.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-many-at-once', 4);

/** More than are given to a command as its arguments, and than are compared one by one (200 branches). */
const FEW = 220;
const MANY = 440;

const FILES = 'mkdir m; for i in $(seq $n); do echo $i > m/$i; done; git add -A; git commit -qm m';
const FOLDERS = 'for i in $(seq $n); do mkdir -p m/$i; echo $i > m/$i/f; done; git add -A; git commit -qm m';
const BRANCHES = 'for i in $(seq $n); do echo "create refs/heads/b$i HEAD"; done | git update-ref --stdin';

test.for([
  ['files change', FILES, 'for i in m/*; do echo x >> $i; done'],
  ['files come', ':', FILES],
  ['directories come', ':', FOLDERS],
  ['directories go', FOLDERS, 'rm -r m'],
  ['empty directories come', ':', 'for i in $(seq $n); do mkdir -p m/$i; done'],
  ['files become symlinks', FILES, 'for i in m/*; do ln -sf a $i; done'],
  ['files become directories', FILES, 'for i in m/*; do rm $i; mkdir $i; echo k > $i/k; done'],
  ['directories become files', FOLDERS, 'for i in m/*; do rm -r $i; echo f > $i; done'],
  ['files get odd modes', FILES, 'chmod 600 m/*'],
  ['directories get odd modes', FOLDERS, 'chmod 700 m/*'],
  ['directories lose the permission to write', FOLDERS, 'chmod 555 m/*'],
  ['directories hand on their group', 'chmod g+s .', FOLDERS],
  [
    'files are flagged',
    FILES,
    'git update-index --assume-unchanged m/*; git update-index --skip-worktree m/*',
  ],
  ['files are meant to be added', ':', 'mkdir m; for i in $(seq $n); do echo $i > m/$i; done; git add -N m'],
  [
    'files conflict',
    FILES,
    'git checkout -qb o; for i in m/*; do echo x >> $i; done; git commit -qam x; git checkout -q main; for i in m/*; do echo y >> $i; done; git commit -qam y; git merge -q o || true',
  ],
  ['branches come', ':', BRANCHES],
  ['branches go', BRANCHES, 'git branch --format "%(refname:short)" | grep b | xargs git branch -qD'],
  ['files are ignored by then', FILES, 'echo m/ > .gitignore; for i in m/*; do echo x >> $i; done'],
  [
    'some are ignored',
    ':',
    'echo "*.x" > .gitignore; mkdir m; for i in $(seq $n); do echo $i > m/$i.x; echo $i > m/$i; done',
  ],
  ['files are too large', ':', 'mkdir m; for i in $(seq $n); do printf %5000s x > m/$i; done'],
  ['captured files grow', FILES, 'for i in m/*; do printf %5000s x > $i; done; git rm -rq --cached m'],
  ['pipes come', ':', 'mkdir m; for i in $(seq $n); do echo m/$i; done | xargs mkfifo'],
  ['line ends change', FILES, 'echo "* text eol=crlf" > .gitattributes; rm m/*; git checkout -q -- m'],
  [
    'a partial checkout',
    FILES,
    'mkdir z; echo z > z/z; git add z; git commit -qm z; git sparse-checkout set z',
  ],
])('%s', async ([, make, change]) => {
  const commands = async (n: number): Promise<string[]> => {
    using faults = commandFaults();
    await using harness = await withRepositories(['app'], { env: faults.env, maxFileBytes: 4000 });
    harness.sh(`n=${n}; ${make}`, 'app');
    const first = await harness.capture();
    harness.sh(`n=${n}; ${change}`, 'app');
    const calls = await faults.record(async () => {
      const { undo, report } = await harness.rollback(first);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      const back = await harness.rollback(undo);
      expect([back.report.outcome, back.report.problems]).toEqual(['applied', []]);
    });
    return calls.map(({ line }) => line.slice(0, 60));
  };
  const few = await commands(FEW);
  const many = await commands(MANY);
  // A slow walk may cost a few more.
  expect(many.length - few.length, many.join('\n')).toBeLessThan(20);
});
