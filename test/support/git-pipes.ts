/** Named pipes where git, or the program in the sandbox, reads a file: opening one waits for a writer that never comes. */

export interface PipeCase {
  /** Where the pipe is, below the projects root. */
  at: string;
  /** Bash in the repository `app`, before the first capture. */
  before?: string;
  /** Bash in the repository `app`, just before the pipe is made. */
  just?: string;
  include?: string[];
  /**
   * What the capture says is missing or left out. Empty where nothing is: the pipe stands where the capture reads nothing, or
   * in our own directory, where it is replaced.
   */
  said: string;
  /** Whether the files of the repository are captured all the same. */
  isCaptured: boolean;
  /** Whether the other repository is captured. True unless said. */
  isCapturedElsewhere?: boolean;
}

const OWN = 'app/.agent-shadow/session-s1';

/** The files of the host's repository that git reads: without one of them the files are captured, and no more. */
const HOST = [
  'HEAD',
  'config',
  'config.worktree',
  'index',
  'packed-refs',
  'shallow',
  'commondir',
  'info/exclude',
  'info/attributes',
  'info/sparse-checkout',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/commit-graph',
  'objects/pack/multi-pack-index',
  'MERGE_HEAD',
  'MERGE_MSG',
  'ORIG_HEAD',
  'rebase-merge',
  'logs/HEAD',
];

/** The branches and their logs: git lists what is below `refs`. */
const REFS = [
  'refs/heads/pipe',
  'refs/heads/main',
  'refs/heads/in/pipe',
  'refs/pipe',
  'refs/stash',
  'refs/bisect/pipe',
];

export const PIPES: PipeCase[] = [
  ...['.gitignore', '.gitattributes', 'src/.gitignore', 'src/.gitattributes'].map((name) => ({
    at: `app/${name}`,
    said: name,
    isCaptured: false,
  })),
  // A directory that git lists as ignored is not looked into. What is asked for in it is.
  {
    at: 'app/cache/.gitattributes',
    before: 'echo cache/ > .gitignore; mkdir cache; echo c > cache/c',
    include: ['cache/c'],
    said: 'cache/.gitattributes',
    isCaptured: false,
  },
  {
    at: 'app/cache/.gitattributes',
    before: 'echo cache/ > .gitignore; mkdir -p cache/in; mkfifo cache/in/.gitignore cache/in/.gitattributes',
    said: '',
    isCaptured: true,
  },
  {
    at: 'app/cache/.gitattributes',
    before:
      'echo cache/ > .gitignore; mkdir cache; echo c > cache/c; git add -f cache; echo changed > cache/c',
    said: 'cache/.gitattributes',
    isCaptured: false,
  },
  // The walk is told to leave it out, which git is asked about first.
  {
    at: 'app/.gitignore',
    before: 'echo cache/ > .gitignore; mkdir cache; echo c > cache/c',
    just: 'printf "./cache/\\0" > .agent-shadow/session-s1/ignored-directories',
    said: '.gitignore',
    isCaptured: false,
  },
  // The same, and one whose own rules git reads when it is asked about it with a slash at its end.
  ...['.gitignore', '.gitattributes'].map((name) => ({
    at: `app/cache/${name}`,
    before: 'echo cache/ > .gitignore; mkdir -p cache/in; echo c > cache/in/c',
    just: 'printf "./cache/\\0" > .agent-shadow/session-s1/ignored-directories',
    said: '',
    isCaptured: true,
  })),
  // One that is not ignored any more.
  {
    at: 'app/cache/.gitignore',
    before: 'echo cache/ > .gitignore; mkdir cache; echo c > cache/c',
    just: 'printf "./cache/\\0" > .agent-shadow/session-s1/ignored-directories; : > .gitignore',
    said: 'cache/.gitignore',
    isCaptured: false,
  },
  { at: 'app/.gitmodules', said: 'app/.gitmodules', isCaptured: true },
  { at: 'app/pipe', said: 'app/pipe', isCaptured: true },
  { at: 'app/src/main.c', said: 'app/src/main.c', isCaptured: true },
  { at: 'pipe', said: '', isCaptured: true },
  ...[...HOST, ...REFS].map((name) => ({ at: `app/.git/${name}`, said: `.git/${name}`, isCaptured: true })),
  { at: 'app/.git', said: 'app/.git', isCaptured: true },
  { at: 'app/src/.git', said: '', isCaptured: true },
  {
    at: '../other.git/objects/info/alternates',
    before:
      'git clone -q --bare . ../../other.git; echo "$PWD/../../other.git/objects" > .git/objects/info/alternates',
    said: 'other.git/objects/info/alternates',
    isCaptured: true,
  },
  // Read or written by a rollback alone.
  ...['logs/refs/heads/main', 'refs/tags/pipe', 'refs/remotes/origin/pipe'].map((name) => ({
    at: `app/.git/${name}`,
    said: '',
    isCaptured: true,
  })),
  // Settings that lead elsewhere.
  {
    at: 'app/.git/more',
    before: 'git config include.path more',
    said: '.git/more',
    isCaptured: true,
  },
  {
    at: 'app/.git/ignore',
    before: 'git config core.excludesFile "$PWD/.git/ignore"',
    said: '.git/ignore',
    isCaptured: false,
  },
  {
    at: 'app/.git/attributes',
    before: 'git config core.attributesFile "$PWD/.git/attributes"',
    said: '',
    isCaptured: true,
  },
  // Those of the user count in every repository.
  { at: '../home/.gitconfig', said: '.gitconfig', isCaptured: false, isCapturedElsewhere: false },
  {
    at: '../home/.config/git/ignore',
    said: '.config/git/ignore',
    isCaptured: false,
    isCapturedElsewhere: false,
  },
  // A linked worktree, and its files.
  ...['HEAD', 'commondir', 'index'].map((name) => ({
    at: `app/.git/worktrees/linked/${name}`,
    before: 'git worktree add -q ../linked',
    said: `.git/worktrees/linked/${name}`,
    isCaptured: true,
  })),
  {
    at: 'app/.git/worktrees/linked/gitdir',
    before: 'git worktree add -q ../linked',
    said: '',
    isCaptured: true,
  },
  // Our own.
  { at: 'app/.agent-shadow', said: 'app', isCaptured: false },
  { at: 'app/.agent-shadow/.gitignore', said: '', isCaptured: true },
  ...[
    '',
    '/HEAD',
    '/format',
    '/config',
    '/index',
    '/looked',
    '/looked.mark',
    '/rules',
    '/rules-seen',
    '/host-index',
    '/tree.id',
    '/meta.key',
    '/branches.files',
    '/info/exclude',
    '/info/attributes',
    '/objects/info/alternates',
    '/refs/heads/pipe',
    '/refs/tags/chkpt/pipe',
    '/packed-refs',
    '/borrowed/whole',
    '/borrowed/stores',
  ].map((name) => ({ at: `${OWN}${name}`, said: '', isCaptured: true })),
];
