/** What agents do to many paths at once, as bash with `$n`: how the repository is made, and then changed. Files of over 4,000 bytes are too large. */
const FILES = 'mkdir m; for i in $(seq $n); do echo $i > m/$i; done; git add -A; git commit -qm m';
const FOLDERS = 'for i in $(seq $n); do mkdir -p m/$i; echo $i > m/$i/f; done; git add -A; git commit -qm m';
const BRANCHES = 'for i in $(seq $n); do echo "create refs/heads/b$i HEAD"; done | git update-ref --stdin';

export const MANY_WORK: [what: string, make: string, change: string][] = [
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
  ['empty directories with modes come', ':', 'for i in $(seq $n); do mkdir -p m/$i/e; chmod 700 m/$i; done'],
  [
    'empty directories with modes go',
    'for i in $(seq $n); do mkdir -p m/$i/e; chmod 700 m/$i m/$i/e; done',
    'rm -r m',
  ],
  [
    'symlinks become directories',
    'mkdir m; for i in $(seq $n); do ln -s a m/$i; done',
    'for i in m/*; do rm $i; mkdir $i; echo k > $i/k; done',
  ],
  [
    'files were ignored',
    'echo m/ > .gitignore',
    'mkdir m; for i in $(seq $n); do echo $i > m/$i; done; git add -f m',
  ],
  [
    'directories were ignored',
    'echo m/ > .gitignore',
    'for i in $(seq $n); do mkdir -p m/$i; echo $i > m/$i/f; done; git add -f m; git commit -qm x',
  ],
  [
    'large files shrink',
    'mkdir m; for i in $(seq $n); do printf %5000s x > m/$i; done',
    'for i in m/*; do echo x > $i; done',
  ],
  ['files are renamed', FILES, 'git mv m o; for i in o/*; do echo x >> $i; done; git commit -qam x'],
  ['each directory has rules', FOLDERS, 'for i in m/*; do echo f2 > $i/.gitignore; echo 2 > $i/f2; done'],
  [
    'rules hide something in each directory',
    FOLDERS,
    'for i in m/*; do echo f > $i/.gitignore; git rm -q --cached $i/f; done',
  ],
  [
    'directories go that are deep',
    'p=m; for i in $(seq 100); do p=$p/d; done; mkdir -p $p; for i in $(seq $n); do echo x > $p/$i; done',
    'rm -r m',
  ],
  [
    'branches are files',
    'mkdir .git/refs/heads/x; h=$(git rev-parse HEAD); for i in $(seq $n); do echo $h > .git/refs/heads/x/$i; done',
    'git commit -q --allow-empty -m x; h=$(git rev-parse HEAD); for i in $(seq $n); do echo $h > .git/refs/heads/x/$i; done',
  ],
];
