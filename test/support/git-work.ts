/** What agents do with git between checkpoints, in any order: every checkpoint gives it all back, operations in progress included. */
import { existsSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { Snapshot } from './git-harness.ts';
import { withRepositories, world } from './git-repositories.ts';

/** `n` is random; `pick COUNT` names tracked files, `any COUNT` a commit among so many. A command that fails is one, too. */
const WORK = [
  'f=$(pick 1); echo line >> "$f"',
  'for f in $(pick 20); do echo line >> "$f"; done',
  'git add -A',
  'git commit -qam "work $n"',
  'git add -A; git commit -qm "all $n"',
  'git commit -q --amend -m other',
  'git rm -qf $(pick 5)',
  'git mv $(pick 1) moved-$n',
  'git checkout -q --detach $(any 40)',
  'git checkout -qf main',
  'git checkout -qB b$((n % 4)) $(any 20)',
  'git checkout -q b0 -- lib',
  'git reset -q --hard HEAD~3',
  'git reset -q HEAD~1',
  'git reset -q --soft HEAD~1',
  'git restore --staged .; git restore .',
  'git clean -fdxq',
  'git stash -q -u',
  'git stash pop -q',
  'git stash -q --keep-index; git stash pop -q --index',
  'git diff --binary > .git/unstaged.patch; git checkout -q -- .; git apply --3way .git/unstaged.patch',
  'git add -f . ":!.agent-shadow"',
  'git notes add -fm "$n" $(any 20)',
  'git replace -f $(any 20) $(any 7)',
  'git replace -d $(git replace -l)',
  'git merge -qm m b0',
  'git merge -q --no-commit --no-ff b1',
  'git merge -q b3 || git checkout -q --ours .',
  'git merge --abort',
  'git rebase -q b2',
  'git rebase -q --onto HEAD~5 HEAD~2',
  'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -qi HEAD~3',
  'GIT_SEQUENCE_EDITOR="sed -i 2s/pick/edit/" git rebase -qi --update-refs HEAD~4',
  'git rebase --continue',
  'git rebase --skip',
  'git rebase --abort',
  'git cherry-pick b1~3..b1',
  'git cherry-pick --abort',
  'git revert --no-edit HEAD~2',
  'git revert --abort',
  'git bisect start HEAD HEAD~10',
  'git bisect bad',
  'git bisect good',
  'git bisect reset',
  'git format-patch -3 --stdout b1 | git am -3q',
  'git am --abort',
  'git diff HEAD~2 HEAD~1 | git apply --reject',
  'git gc -q --prune=now',
  'git reflog expire --expire=now --all; git gc -q --prune=now',
  'git maintenance run --task=gc --task=commit-graph --task=loose-objects --task=incremental-repack',
  'git commit-graph write --reachable --split; git reflog expire --expire=now --all; git prune --expire=now',
  'git repack -adbq; git multi-pack-index write --bitmap',
  'git commit -q --amend -m "other $n"; git reflog expire --expire=now --all; git prune --expire=now',
  'git repack -adq',
  'git pack-refs --all',
  'git branch -D b1',
  'git branch -m b2 renamed-$n',
  'git branch topic/$n',
  'git update-ref -d refs/heads/b3',
  'git symbolic-ref HEAD refs/heads/unborn-$n',
  'git fetch -q ../src "+refs/heads/*:refs/remotes/o/*"; git checkout -qt o/main',
  'mkdir -p "new dir/$n"; echo x > "new dir/x y"; : > "new dir/é"',
  'rm -rf lib; mkdir lib; echo x > lib/x',
  'd=$(pick 1 | xargs dirname); [ "$d" = . ] || { rm -rf "$d"; echo file > "$d"; }',
  'f=$(pick 1); rm -rf "$f"; mkdir "$f"; echo q > "$f/q"',
  'f=$(pick 1); ln -sf /etc/passwd "$f"',
  'chmod -R go-w .; chmod 600 $(pick 3)',
  'chmod g+s lib; chmod 700 doc',
  'chmod +x $(pick 3)',
  'head -c 300000 /dev/urandom > big-$n',
  'git update-index --assume-unchanged $(pick 1)',
  'git update-index --skip-worktree $(pick 1)',
  'echo new > new-$n; git add -N new-$n',
  'git read-tree HEAD~2',
  'rm -f .git/index',
  'git update-index --index-version 4; git update-index --split-index',
  'git update-index --no-split-index',
  'git config feature.manyFiles true; git update-index --untracked-cache; git status',
  'git config filter.missing.required true; git config filter.missing.process no-such; echo "*.md filter=missing" > .gitattributes',
  'mkdir -p hooks; printf "#!/bin/sh\\nexit 1\\n" | tee hooks/pre-commit hooks/reference-transaction > hooks/post-checkout; chmod +x hooks/*; git config core.hooksPath hooks',
  'git config --unset core.hooksPath',
  'git sparse-checkout set lib',
  'git sparse-checkout set --no-cone "/*" "!/doc/1*"',
  'git sparse-checkout set --cone --sparse-index doc; git status',
  'git sparse-checkout disable',
  'git worktree add -q ../tree-$n HEAD',
  'git worktree add -qb branch-$n ../tree-$n HEAD~1',
  't=$(echo ../tree-*); git worktree move ${t%% *} ../tree-moved-$n; git worktree repair',
  't=$(echo ../tree-*); git worktree lock ${t%% *}; git worktree remove -ff ${t##* }',
  'rm -rf ../tree-*; git worktree prune',
  'git init -q inner; cd inner; echo i > i; git add -A; git commit -qm i',
  'git submodule add -q ../src sub',
  'git submodule update -q --init',
  'git submodule update -q --remote',
  'git submodule deinit -qf --all',
  'git submodule add -q ./inner inner; git submodule absorbgitdirs',
  'rm -rf inner sub',
  'git config core.autocrlf $((n % 2))',
  'echo "*.c text eol=crlf" > .gitattributes',
  'rm -f .gitattributes; git checkout -q -- .',
  'rm -rf .agent-shadow',
];

const NEW = `git init -q -b main src; cd src; mkdir -p lib/a doc
for i in {1..20}; do echo $i > lib/a/$i.c; echo $i > doc/$i.md; echo $i > f$i; done; git add -A; git commit -qm init
for c in {1..40}; do f=$(git ls-files | sed -n "$((c * 17 % 55 + 1))p"); echo $c >> "$f"
case $((c % 7)) in 3) echo n > new$c; git add -A;; 5) git rm -qf "$f";; esac; git commit -qam "c$c"; done
cd ..; git clone -q src app; cd app; git config protocol.file.allow always; git config rerere.enabled true
for i in 0 1 2 3; do git branch b$i HEAD~$((i * 2 + 1)); done`;

const PROLOGUE = `pick() { git ls-files | shuf --random-source=<(yes $n) -n "$1"; }
any() { git rev-list --all | sed -n "$((n % $1 + 1))p"; }
set +eu`;

/** Some work and then a checkpoint; or back to one of those that were taken. */
export type Turn = { work: [string, number][] } | { back: number };

export const turns = (limits: { minLength: number; maxLength: number }): fc.Arbitrary<Turn[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          work: fc.array(fc.tuple(fc.constantFrom(...WORK), fc.nat({ max: 9999 })), {
            minLength: 1,
            maxLength: 3,
          }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ back: fc.nat() }) },
    ),
    limits,
  );

/** Plays them, and goes back to each checkpoint at the end. Answers how often it went back. */
export const allGoBack = async (all: readonly Turn[]): Promise<number> => {
  await using harness = await withRepositories(['.'], { maxInlineBytes: 1024 ** 3 }, NEW);
  // The mode of the directory that is a repository is in no capture.
  const isRepository = (line: string): boolean =>
    existsSync(`${harness.root}/${/^d \d+ (.*)/s.exec(line)?.[1] ?? ''}/.git`);
  const look = (): string[] =>
    world(harness, ['app', 'src']).filter((line) => !line.startsWith('d ') || !isRepository(line));
  const taken: { snapshot: Snapshot; looks: string[] }[] = [];
  const take = async (): Promise<void> => {
    const snapshot = await harness.capture();
    expect(snapshot.report.failures).toEqual([]);
    taken.push({ snapshot, looks: look() });
  };
  let times = 0;
  const goBack = async (at: number): Promise<void> => {
    const one = taken[at];
    if (one === undefined) throw new Error('no such checkpoint');
    const { report } = await harness.rollback(one.snapshot);
    expect([report.outcome, report.problems], `back to ${at}`).toEqual(['applied', []]);
    expect(look(), `back to ${at}`).toEqual(one.looks);
    times += 1;
  };
  await take();
  for (const turn of all) {
    if ('back' in turn) await goBack(turn.back % taken.length);
    else {
      for (const [script, n] of turn.work)
        harness.sh(`n=${n}; ${PROLOGUE}; { ${script}; } >/dev/null 2>&1; :`, 'app');
      await take();
    }
  }
  for (const at of taken.keys()) await goBack(taken.length - 1 - at);
  return times;
};
