/** Repositories of all kinds, and what an agent does in them: the case list of capture and restore, of merges and reverts. */
import { files, gitState } from './fingerprint.ts';
import type { Harness, HarnessOptions } from './git-harness.ts';
import { withTwoFiles } from './git-repositories.ts';

const ROOTS = `find . -name .git -not -path '*/.agent-shadow/*' -printf '%h\\n' | sort`;

/** The paths of all repositories that are there. */
export const rootsIn = (harness: Harness): string[] =>
  harness
    .sh(ROOTS)
    .trim()
    .split('\n')
    .filter((path) => path !== '');

/** All files, and the git state of every repository that is there. */
export const state = (harness: Harness, ignore?: RegExp, standalone = false): string[] => [
  ...files(harness.root).filter((line) => !ignore?.test(line)),
  ...(standalone
    ? []
    : rootsIn(harness).flatMap((path) =>
        gitState(`${harness.root}/${path}`).map((line) => `${path}: ${line}`),
      )),
];

export interface GitCase {
  name: string;
  /** Bash, in the repository `app`, which has one commit already. */
  setup: string;
  /** What the agent does after the checkpoint. */
  damage: string;
  options?: HarnessOptions;
  /** Lines of the fingerprint that a fresh sandbox cannot have (uncaptured), as a pattern. */
  notRehydrated?: RegExp;
  /** Linked worktrees and submodules come back as repositories of their own. */
  standalone?: boolean;
  /** Rolling back leaves these uncaptured paths as the damage made them. */
  survives?: RegExp;
}

/** A harness in which such a case begins. */
export const openCase = async ({ setup, options }: Pick<GitCase, 'setup' | 'options'>): Promise<Harness> => {
  const harness = await withTwoFiles(['app'], options);
  harness.sh(setup, 'app');
  return harness;
};

export const casesOf = (cases: Record<string, Omit<GitCase, 'name'>>): GitCase[] =>
  Object.entries(cases).map(([name, one]) => ({ name, ...one }));

export const GIT_CASES = casesOf({
  'binary content': {
    setup: `head -c 70000 /dev/urandom > blob.bin; printf 'a\\0b' > nul`,
    damage: `head -c 70000 /dev/urandom > blob.bin; rm nul`,
  },
  'CRLF with text=auto, eol, ident and working-tree-encoding attributes': {
    setup: `printf '* text=auto\\n*.sh eol=lf\\n*.bat eol=crlf\\n*.id ident\\n*.u16 working-tree-encoding=UTF-16LE\\n' > .gitattributes; printf 'a\\r\\nb\\r\\n' > x.txt; printf 'a\\r\\n' > y.sh; printf 'a\\n' > z.bat; printf '$Id: mine $\\n' > k.id; printf 'h\\0i\\0' > m.u16; git add -A 2>/dev/null; git commit -qm attrs; printf 'mixed\\r\\nline\\n' >> x.txt`,
    damage: `echo other > x.txt; rm y.sh z.bat; echo '$Id$' > k.id; printf 'x\\0' > m.u16; echo > .gitattributes`,
  },
  'attributes that git warns of': {
    setup: `mkdir d; printf '*.txt text,eol=lf\n!*.md text\n<<<<<<< HEAD\n*.a text\n=======\n*.b text\n>>>>>>> feature/x\n' > .gitattributes; printf '[attr]foo bar\n' > d/.gitattributes; echo x > d/x`,
    damage: `rm .gitattributes; echo '* =bad' > d/.gitattributes; echo two > a.txt`,
  },
  'an empty directory and one of another mode, which a rule outside of the tree hides later': {
    setup: `mkdir logs logs2 '$(cd $WB_HOME;touch OWNED)]'; mkdir -m 700 hidden hidden/'a]$(cd $WB_HOME;touch OWNED)'; chmod 600 a.txt`,
    damage: `printf 'logs/\nhidden/\na.txt\n*touch*\n' >> .git/info/exclude; chmod 644 a.txt; echo two > src/main.c`,
  },
  'an empty directory that .gitignore hides later': {
    setup: `mkdir -p logs deep/logs; chmod 700 deep/logs`,
    damage: `echo logs/ > .gitignore; echo two > a.txt`,
  },
  'a tracked directory that becomes a symlink, and is ignored': {
    setup: `mkdir d; echo f > d/f; git add -A; git commit -qm d`,
    damage: `mv d e; ln -s e d; echo d > .gitignore`,
    // No capture has the symlink, because it is ignored.
    survives: /^l app\/d /,
  },
  'a clean and smudge filter that would change bytes': {
    setup: `git config filter.rot.clean 'tr a-z n-za-m'; git config filter.rot.smudge 'tr n-za-m a-z'; echo '*.rot filter=rot' > .gitattributes; echo hello > s.rot; git add -A; git commit -qm f`,
    damage: `echo changed > s.rot; git add -A; git commit -qm g`,
  },
  'LFS pointers in the index, content in the working tree': {
    setup: `printf '*.big filter=lfs diff=lfs merge=lfs -text\\n' > .gitattributes; git config filter.lfs.clean 'sha256sum | sed "s/^/oid /"'; git config filter.lfs.smudge cat; head -c 5000 /dev/urandom > m.big; git add -A; git commit -qm lfs`,
    damage: `rm m.big; echo pointer > m.big; git add -A`,
  },
  'the executable bit, mode 0600 and a read-only file': {
    setup: `echo x > run; chmod 755 run; echo k > key; chmod 600 key; echo r > ro; chmod 444 ro; git add -A`,
    damage: `chmod 644 run; chmod 644 key; chmod 644 ro; echo more >> key`,
  },
  'a chmod alone, without a change of content': {
    setup: `echo k > key; chmod 600 key; mkdir private; echo p > private/p; chmod 700 private`,
    damage: `chmod 644 key; chmod 755 private`,
  },
  'symlinks: dangling, circular, to a directory, out of the tree': {
    setup: `ln -s nowhere dangling; ln -s loop2 loop1; ln -s loop1 loop2; ln -s src dirlink; ln -s /etc/hostname out; git add dangling`,
    damage: `rm dangling loop1 loop2 dirlink out; echo file > dangling; mkdir loop1; echo f > loop1/f; ln -s /tmp dirlink`,
  },
  'a directory replaced by a symlink, and the reverse': {
    setup: `mkdir real; echo r > real/r; ln -s real link`,
    damage: `rm -rf real link; ln -s src real; mkdir link; echo l > link/l`,
  },
  'empty directories, nested ones too': {
    setup: `mkdir -p e1 e2/e3/e4; mkdir src/empty`,
    damage: `rm -rf e1 e2 src/empty; mkdir -p new/newer`,
  },
  'unicode, spaces, quotes, newlines and leading dashes in names': {
    setup: `echo 1 > 'ünï — 日本.txt'; echo 2 > ' lead and trail '; echo 3 > 'quote"s'"'"'and\\back'; echo 4 > $'new\\nline'; echo 5 > -dash; mkdir -- '-d ir'; echo 6 > './-d ir/--help'; echo 7 > '*glob[a]?'; echo 8 > ':(top)x'; git add -A; git commit -qm names; echo 9 >> -dash`,
    damage: `rm -rf ./* ; echo other > -dash; echo x > $'new\\nother'`,
  },
  'names that are not UTF-8': {
    setup: `echo a > $'caf\\xe9'; mkdir $'d\\xff'; echo b > $'d\\xff/f'`,
    damage: `rm -rf caf* d*; echo c > $'n\\xfe'`,
  },
  'a name of 255 bytes and a path of over 1,000': {
    setup: `n=$(printf 'x%.0s' {1..255}); echo l > $n; d=$(printf 'd%.0s' {1..200}); mkdir -p $d/$d/$d/$d/$d; echo deep > $d/$d/$d/$d/$d/f`,
    damage: `rm -rf x* d*`,
  },
  'staged, unstaged and both on one file': {
    setup: `echo two >> a.txt; git add a.txt; echo three >> a.txt; echo s > staged; git add staged; echo u > untracked; git rm -q --cached src/main.c`,
    damage: `git add -A; git commit -qm all; echo z > a.txt`,
  },
  'intent to add, assume-unchanged and skip-worktree entries': {
    setup: `echo n > ita; git add -N ita; echo h > hidden; echo k > kept; git add hidden kept; git commit -qm h hidden kept; git update-index --assume-unchanged hidden; git update-index --skip-worktree kept; echo changed > hidden; echo changed > kept`,
    damage: `git update-index --no-assume-unchanged hidden; git update-index --no-skip-worktree kept; echo again > hidden; echo again > kept; git add ita`,
  },
  'ignored files stay out and survive': {
    setup: `printf '*.log\\nbuild/\\n' > .gitignore; echo l > x.log; mkdir build; echo o > build/o; git add -A; git commit -qm i`,
    damage: `echo 2 >> x.log; echo new > y.log; echo a >> a.txt`,
    notRehydrated: /x\.log|y\.log|build/,
    survives: /x\.log|y\.log/,
  },
  'tracked although ignored': {
    setup: `echo '*.gen' > .gitignore; echo g > p.gen; git add -f p.gen .gitignore; git commit -qm g; echo edited > p.gen`,
    damage: `echo lost > p.gen; git rm -q --cached p.gen; rm p.gen`,
  },
  '.gitignore that changes in the session': {
    setup: `echo '*.tmp' > .gitignore; echo t > t.tmp; echo s > s.env; git add -A; git commit -qm i`,
    damage: `echo '*.env' > .gitignore; echo secret > s.env; git add -A; git commit -qm j`,
    notRehydrated: /t\.tmp/,
  },
  'a .gitignore that is a symlink, which git does not read, and a file that comes': {
    setup: `echo '*.o' > rules; ln -s rules .gitignore; ln -s ../a.txt src/.gitignore; git add -A 2>/dev/null; git commit -qm l`,
    damage: `echo n > n; echo o > n.o; echo two > a.txt`,
  },
  'a .gitignore that is a symlink, and becomes a file': {
    setup: `ln -s nowhere .gitignore; echo o > x.o`,
    damage: `rm .gitignore; echo '*.o' > .gitignore; echo n > n; mkdir d; echo d > d/d`,
    notRehydrated: /x\.o/,
  },
  'info/exclude and a global excludes file': {
    setup: `echo private.txt > .git/info/exclude; echo p > private.txt; mkdir -p ~/.config/git; echo '*.global' > ~/.config/git/ignore; echo g > x.global`,
    damage: `echo p2 > private.txt; echo g2 > x.global; echo b > a.txt`,
    notRehydrated: /private|global/,
    survives: /private|global/,
  },
  'a nested repository and one without commits': {
    setup: `git init -q -b main inner; (cd inner; echo i > i; git add -A; git commit -qm i; echo w >> i); git init -q -b main bare-inner; echo n > bare-inner/n`,
    damage: `echo x > inner/i; (cd inner; git checkout -qb other); echo y > bare-inner/n; echo z > a.txt`,
  },
  'a submodule': {
    setup: `git init -q -b main ../lib; (cd ../lib; echo l > l; git add -A; git commit -qm l); git -c protocol.file.allow=always submodule -q add ../lib sub; git commit -qm sub; echo w >> sub/l`,
    damage: `(cd sub; git add -A; git commit -qm in-sub; echo q > q); git add sub; git commit -qm moved; echo m > .gitmodules`,
    standalone: true,
  },
  'a linked worktree': {
    setup: `git worktree add -q ../tree -b topic; echo w > ../tree/w; git -C ../tree add w`,
    damage: `(cd ../tree; git commit -qm w; echo x > x); echo z > a.txt`,
    standalone: true,
  },
  'a root without commits': {
    setup: `git init -q -b trunk ../fresh; echo f > ../fresh/f; git -C ../fresh add f; echo g > ../fresh/g`,
    damage: `(cd ../fresh; git commit -qm first; rm g; echo h > h)`,
  },
  'a detached HEAD': {
    setup: `echo b >> a.txt; git commit -qam two; git checkout -q HEAD~1; echo d > d`,
    damage: `git checkout -q main; rm -f d; git branch extra`,
  },
  'a merge conflict in progress': {
    setup: `git checkout -qb other; echo o > a.txt; echo n > theirs; git add -A; git commit -qm o; git checkout -q main; echo m > a.txt; git commit -qam m; git merge other >/dev/null 2>&1 || true; echo half >> a.txt`,
    damage: `git merge --abort; echo x > x; git add -A; git commit -qm after`,
  },
  'a merge started after the checkpoint': {
    setup: `git checkout -qb other; echo o > a.txt; git commit -qam o; git checkout -q main; echo m > a.txt; git commit -qam m`,
    damage: `git merge other >/dev/null 2>&1 || true`,
  },
  'a rebase in progress': {
    setup: `git checkout -qb topic; echo t > a.txt; git commit -qam t; echo t2 > b; git add b; git commit -qm t2; git checkout -q main; echo m > a.txt; git commit -qam m; git checkout -q topic; git rebase main >/dev/null 2>&1 || true`,
    damage: `git rebase --abort; git checkout -q main; git branch -qD topic`,
  },
  'a merge with an autostash in progress': {
    setup: `git checkout -qb other; echo o > a.txt; git commit -qam o; git checkout -q main; echo m > a.txt; git commit -qam m; echo dirty > src/main.c; git merge -q --autostash other >/dev/null 2>&1 || true`,
    damage: `git merge --abort; echo x > x`,
  },
  'a merge with an autostash, begun after the checkpoint': {
    setup: `git checkout -qb other; echo o > a.txt; git commit -qam o; git checkout -q main; echo m > a.txt; git commit -qam m; echo dirty > src/main.c`,
    damage: `git merge -q --autostash other >/dev/null 2>&1 || true`,
  },
  'a bisect in progress': {
    setup: `for i in 1 2 3 4; do echo $i > c; git add c; git commit -qm $i; done; git bisect start HEAD HEAD~4 >/dev/null 2>&1`,
    damage: `git bisect good >/dev/null 2>&1; git bisect reset >/dev/null 2>&1`,
  },
  'a sparse checkout': {
    setup: `mkdir -p p q; echo p > p/p; echo q > q/q; git add -A; git commit -qm pq; git sparse-checkout set p 2>/dev/null; echo new > p/new`,
    damage: `rm -rf p; echo x > a.txt; mkdir p; echo z > p/z`,
  },
  'a shallow clone': {
    setup: `for i in 1 2 3 4; do echo $i > c; git add c; git commit -qm $i; done; git clone -q --depth 2 "file://$PWD" ../shallow; echo w > ../shallow/w`,
    damage: `(cd ../shallow; git add -A; git commit -qm w; rm c)`,
  },
  'a partial clone': {
    setup: `git config uploadpack.allowFilter true; for i in 1 2 3; do echo $i$i$i > c; git add c; git commit -qm $i; done; git clone -q --filter=blob:none "file://$PWD" ../partial; echo w > ../partial/w`,
    damage: `(cd ../partial; git add -A; git commit -qm w; rm c)`,
  },
  'the agent amends, rebases away and prunes': {
    setup: `echo b > b; git add b; git commit -qm b; echo c > c; git add c; git commit -qm c; git branch keep`,
    damage: `git branch -qD keep; git reset -q --hard HEAD~2; echo d > d; git add d; git commit -qm d --amend; git reflog expire --expire=now --all; git gc -q --prune=now`,
  },
  'the agent deletes .agent-shadow': {
    setup: `echo w > w`,
    damage: `echo x > w; rm -rf .agent-shadow; git add -A; git commit -qm x`,
  },
  'the agent runs git clean -fdx': {
    setup: `echo w > w; git add w; mkdir d; echo u > d/u`,
    damage: `git clean -qfdx; git reset -q --hard`,
  },
  'the agent amends, prunes and deletes .agent-shadow': {
    setup: `echo b > b; git add b; git commit -qm b; echo s > s; git add s`,
    damage: `echo c > b; git commit -qam x --amend; git reflog expire --expire=now --all; git gc -q --prune=now; rm -rf .agent-shadow s`,
  },
  'a stale index.lock': {
    setup: `echo w > w; git add w`,
    damage: `echo x > w; git add w; touch .git/index.lock`,
  },
  'a hostile repository: hooks, fsmonitor, textconv, filters, pager': {
    setup: `mkdir hooks; for h in post-index-change reference-transaction post-checkout pre-commit post-commit; do printf '#!/bin/sh\\ntouch "$HOME/OWNED-'$h'"\\n' > hooks/$h; done; printf '#!/bin/sh\\ntouch "$HOME/OWNED-fsmonitor"\\n' > hooks/mon; chmod 755 hooks/*; git add -A; git commit -qm h; git config core.hooksPath "$PWD/hooks"; git config core.fsmonitor "$PWD/hooks/mon"; git config diff.evil.textconv 'touch "$HOME/OWNED-textconv"; cat'; git config filter.evil.clean 'touch "$HOME/OWNED-clean"; cat'; git config filter.evil.smudge 'touch "$HOME/OWNED-smudge"; cat'; git config core.pager 'touch "$HOME/OWNED-pager"'; git config core.sshCommand 'touch "$HOME/OWNED-ssh"'; git config alias.add '!touch "$HOME/OWNED-alias"'; printf '* filter=evil diff=evil\\n' > .git/info/attributes; rm -f "$HOME"/OWNED*`,
    damage: `git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c filter.evil.clean=cat checkout -qb evil; echo x > a.txt; rm -f "$HOME"/OWNED*`,
  },
  'a repository in SHA-256 format': {
    setup: `git init -q -b main --object-format=sha256 ../sha256; (cd ../sha256; echo s > s; git add s; git commit -qm s; echo t > t)`,
    damage: `(cd ../sha256; echo x > s; git add -A; git commit -qm x; rm t)`,
  },
  'split index and untracked cache in the host': {
    setup: `git config core.splitIndex true; git config core.untrackedCache true; git update-index --split-index; echo b > b; git add b; echo c > c`,
    damage: `git add -A; git commit -qm b; rm c`,
  },
  'no identity configured anywhere': {
    setup: `echo w > w`,
    damage: `rm w; echo y > a.txt`,
    options: { env: { GIT_CONFIG_GLOBAL: '/dev/null' } },
  },
  'a symlink in place of .agent-shadow is not followed': {
    setup: `true`,
    damage: `rm -rf .agent-shadow; echo x > a.txt`,
  },
  'session include and exclude patterns': {
    setup: `echo '.env' > .gitignore; echo A=1 > .env; echo s > secret.pem; git add .gitignore; git commit -qm i`,
    damage: `echo A=2 > .env; echo s2 > secret.pem; echo z > a.txt`,
    options: { include: ['.env'], exclude: ['*.pem'] },
    notRehydrated: /secret/,
    survives: /secret/,
  },
  'directories that hand on their group, and one in them that does not': {
    setup: `mkdir -p src/sub; echo s > src/sub/s; chmod g+s src; mkdir src/empty; git add -A; git commit -qm s`,
    damage: `rm -r src/sub src/empty; chmod g-s src; mkdir -p new/in; echo n > new/in/n; chmod 3775 new`,
  },
});
