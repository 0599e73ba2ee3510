/** The floors: what a person who knows git would type for the same result, for all repositories at the same time. */
import { mustRun } from './processes.ts';
import { inParallel, type Workspace } from './repositories.ts';

const IDENTITY =
  'export GIT_AUTHOR_NAME=Bench GIT_AUTHOR_EMAIL=b@example.com GIT_COMMITTER_NAME=Bench GIT_COMMITTER_EMAIL=b@example.com';

/** What the host repository stands on: part of every capture, so part of its floor. */
const LOOK_AT_HOST =
  'git for-each-ref --format="%(objectname) %(refname)" refs/heads >"$s.host" && git rev-parse --symbolic-full-name HEAD >>"$s.host"';

const useShadow = (shadows: string): string =>
  `cd "$r"; s=${shadows}/$r; ${LOOK_AT_HOST}; export GIT_DIR=$s GIT_WORK_TREE=$PWD`;

const CAPTURE = [
  'git add -A',
  'tree=$(git write-tree)',
  'previous=$(<"$s.tip")',
  '[ "$tree" != "$(<"$s.tree")" ] || exit 0',
  'commit=$(git commit-tree "$tree" -p "$previous" -m capture)',
  'git update-ref refs/heads/capture "$commit"',
  'git bundle create -q "$s.bundle" "$previous..capture"',
  'printf %s "$commit" >"$s.tip"; printf %s "$tree" >"$s.tree"',
].join('; ');

/** Shadows of plain git beside the repositories; answers the command that captures all of them into it. */
export const plainCheckpoint = async (
  { root, repositories }: Workspace,
  shadows: string,
): Promise<() => Promise<unknown>> => {
  const first = [
    `cd "$r"; s=${shadows}/$r; git init -q --bare "$s"`,
    'printf "%s/.git/objects\\n" "$PWD" >"$s/objects/info/alternates"',
    'git --git-dir="$s" config core.bare false; git --git-dir="$s" config gc.auto 0; echo .agent-shadow >>"$s/info/exclude"',
    'cp -p .git/index "$s/index"; export GIT_DIR=$s GIT_WORK_TREE=$PWD; git add -A',
    'tree=$(git write-tree); printf %s "$tree" >"$s.tree"',
    'git commit-tree "$tree" -m first >"$s.tip"; git update-ref refs/heads/capture "$(<"$s.tip")"',
  ].join('; ');
  await mustRun(`${IDENTITY}; ${inParallel(repositories, first)}`, root);
  const script = `${IDENTITY}; ${inParallel(repositories, `set -e; ${useShadow(shadows)}; ${CAPTURE}`)}`;
  return () => mustRun(script, root);
};

/** `git checkout` of one commit or branch in every repository. */
export const plainCheckout = ({ root, repositories }: Workspace, revision: string): Promise<unknown> =>
  mustRun(inParallel(repositories, `cd "$r" && git checkout -q ${revision}`), root);

/** Two branches from one commit: what is written before is on `name`. Stands on `name` afterwards. */
export const plainBranch = (
  { root, repositories }: Workspace,
  name: string,
  from: string,
): Promise<unknown> =>
  mustRun(
    inParallel(
      repositories,
      `${IDENTITY}; cd "$r" && git checkout -q -B ${name} ${from} && git add -A && git commit -q -m ${name}`,
    ),
    root,
  );

/** \`git merge\` of a branch in every repository. */
export const plainMerge = ({ root, repositories }: Workspace, branch: string): Promise<unknown> =>
  mustRun(inParallel(repositories, `${IDENTITY}; cd "$r" && git merge -q --no-edit ${branch}`), root);

/** `git clone --local` of every repository, checkout included. */
export const plainClone = ({ root, repositories }: Workspace, to: string): Promise<unknown> =>
  mustRun(`mkdir -p ${to}; ${inParallel(repositories, `git clone -q --local "$r" "${to}/$r"`)}`, root);

/** A snapshot as a shadow directory beside the repositories makes it whose index does not live from one to the next. */
export const freshIndexSnapshot = async (
  { root, repositories }: Workspace,
  shadows: string,
): Promise<() => Promise<unknown>> => {
  const make = `git init -q --bare ${shadows}/$r; git --git-dir=${shadows}/$r config core.bare false; printf "%s/.git/objects\\n" "$PWD/$r" >"${shadows}/$r/objects/info/alternates"`;
  await mustRun(inParallel(repositories, make), root);
  const take = [
    `set -e; cd "$r"; export GIT_DIR=${shadows}/$r GIT_WORK_TREE=$PWD`,
    'rm -f "$GIT_DIR/index"; git add -A; tree=$(git write-tree)',
    'previous=$(git rev-parse -q --verify refs/heads/capture || true)',
    'commit=$(git commit-tree "$tree" ${previous:+-p $previous} -m snapshot); git update-ref refs/heads/capture "$commit"',
  ].join('; ');
  const script = `${IDENTITY}; ${inParallel(repositories, take)}`;
  return () => mustRun(script, root);
};

/** A tree by `git add` into an index that lives from one snapshot to the next, as opencode takes it. */
export const keptIndexSnapshot = async (
  { root, repositories }: Workspace,
  shadows: string,
): Promise<() => Promise<unknown>> => {
  const make = [
    `git init -q --bare ${shadows}/$r; git --git-dir=${shadows}/$r config core.bare false`,
    `printf "%s/.git/objects\\n" "$PWD/$r" >"${shadows}/$r/objects/info/alternates"`,
    `cp -p "$r/.git/index" ${shadows}/$r/index`,
  ].join('; ');
  await mustRun(inParallel(repositories, make), root);
  const take = `set -e; cd "$r"; export GIT_DIR=${shadows}/$r GIT_WORK_TREE=$PWD; git add -A .; git write-tree`;
  const script = inParallel(repositories, take);
  return () => mustRun(script, root);
};

/** Not a snapshot: what git needs to see that a file changed. */
export const plainStatus =
  ({ root, repositories }: Workspace) =>
  (): Promise<unknown> =>
    mustRun(inParallel(repositories, 'git -C "$r" status --porcelain'), root);

/** A snapshot by `git stash create`, which leaves out what is not tracked, and a third parent that holds it. */
export const stashSnapshot = async ({ root, repositories }: Workspace): Promise<() => Promise<unknown>> => {
  const take = [
    'set -e; cd "$r"; stash=$(git stash create snapshot)',
    '[ -n "$stash" ] || stash=$(git rev-parse HEAD)',
    'export GIT_INDEX_FILE=$PWD/.git/snapshot-index; rm -f "$GIT_INDEX_FILE"',
    'git ls-files --others --exclude-standard -z | git add --force --pathspec-from-file=- --pathspec-file-nul',
    'others=$(git commit-tree "$(git write-tree)" -m untracked)',
    'commit=$(git commit-tree "$stash^{tree}" -p "$stash" -p "$others" -m snapshot); git update-ref refs/snapshots/now "$commit"',
  ].join('; ');
  const script = `${IDENTITY}; ${inParallel(repositories, take)}`;
  return () => mustRun(script, root);
};
