/**
 * What the one walk of a restore says (sandbox/capture/stillness.sh), and what a capture finds that follows the change times
 * (sandbox/capture/follow.sh), held against a whole look with git: after every kind of change, made by another process at a
 * random instant before, in or after the look of the capture.
 */
import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { createHarness } from './git-harness.ts';
import { randomFrom } from './racing-writer.ts';
import { sourced } from './sandbox-program.ts';

const SAME_SIZE_AND_TIME =
  'cp -p b ../b.was; printf %05d $((x % 99999)) | dd of=b conv=notrunc; touch -r ../b.was b';
const REPOSITORY_INSIDE = 'rm -rf inner; [ $((x % 3)) != 0 ] || git init -q inner';

/** Bash, in a repository with the files a to e, d/f and d/g, leaf/f to leaf/h, and deep/er/f, which is ignored. `$x` differs every time. */
const CHANGES: Record<string, string> = {
  nothing: ':',
  append: 'echo $x >>a',
  'the same size and time': SAME_SIZE_AND_TIME,
  'through another name': 'ln -f c ../c.too; echo $x >>../c.too',
  'an old file in place of another': 'cp -p d/f ../old; mv ../old d/f',
  'a file of the same size and time in its place':
    'cp -p d/g ../new; printf %05d $((x % 99999)) | dd of=../new conv=notrunc; touch -r d/g ../new; mv ../new d/g',
  truncate: 'truncate -s $((x % 7)) e',
  'a mode': 'chmod 6$((x % 8))$((x % 8)) a',
  'an executable bit': 'if [ -x b ]; then chmod 644 b; else chmod 755 b; fi',
  'a mode of a directory': 'chmod 7$((x % 8))5 d',
  'a new file': 'echo $x >d/new.$((x % 5))',
  'a file goes': 'rm -f d/new.*',
  'a file moves': 'mv d/f d/f.moved || mv d/f.moved d/f',
  'a file moves among files': 'mv leaf/f leaf/moved || mv leaf/moved leaf/f',
  'one of some files goes, another comes':
    'if [ -e leaf/g ]; then rm leaf/g; echo $x >leaf/later; else rm leaf/later; echo $x >leaf/g; fi',
  'an old file in place of one among files': 'mv -f ../spare leaf/h; echo $x >../spare',
  'two of some files change places': 'mv leaf/f ../leaf; mv leaf/h leaf/f; mv ../leaf leaf/h',
  'some files go': 'rm -f leaf/f leaf/moved leaf/g; [ $((x % 2)) = 0 ] || echo $x >leaf/f',
  'a directory moves': 'mv m n || mv n m || { mkdir m && echo $x >m/in; }',
  'directories change places': 'mkdir -p p/one q; echo $x >p/one/f; mv p ../p; mv q p; mv ../p q',
  'directories of the same shape change places':
    'for s in s t; do mkdir -p u/$s/in; [ -f u/$s/in/f ] || echo $s$x >u/$s/in/f; done; mv u/s ../s.$x; mv u/t u/s; mv ../s.$x u/t; [ $((x % 2)) = 0 ] || echo $x >u/s/new',
  'an empty directory': 'mkdir -p void/$((x % 3))',
  'an empty directory goes': 'rm -rf void',
  'a link': 'ln -sfn target.$((x % 3)) link',
  'a link in place of a file': 'rm -f e; ln -s a e; rm -f e; echo 12345 >e; [ $((x % 2)) = 0 ] || ln -sf a e',
  'a time in the past': 'echo $x >a; touch -d @1 a',
  'in place, through an open file': 'exec 4<>b; printf %05d $((x % 99999)) >&4; exec 4>&-',
  // What comes from elsewhere was put there in an earlier round, so its times are old.
  'an old file from elsewhere': 'mv -f ../spare d/came.$((x % 4)); echo $x >../spare',
  'an old directory from elsewhere':
    'rm -rf d/tree.$((x % 3)); mv ../stock d/tree.$((x % 3)); mkdir -p ../stock/sub; echo $x >../stock/sub/f',
  'a captured directory goes elsewhere or comes back': 'mv ../away d/tree.0 || mv d/tree.0 ../away',
  'a file becomes a directory': 'rm -rf e; mkdir e && echo $x >e/in',
  'a directory becomes a file': 'rm -rf e; echo $x >e',
  'an ignored file': 'echo $x >>deep/er/f',
  'a rule that ignores itself':
    'printf ".gitignore\\n*.log\\n" >d/.gitignore; mkdir -p d/sub; echo $x >d/sub/x.log; echo $x >d/sub/y',
  'a rule that ignored itself goes': 'rm -f d/.gitignore',
  'a rule becomes a link': 'mv d/.gitignore d/rules; ln -s rules d/.gitignore',
  'many files': 'for i in {1..40}; do echo $x >"d/many $i"; done',
  'many files go': 'rm -f d/many*; echo $x >d/g',
  'a special file': 'rm -f pipe; [ $((x % 2)) = 0 ] || mkfifo pipe',
  'an unreadable file': 'chmod 000 a; [ $((x % 2)) = 0 ] || chmod 644 a',
  'an index of the host that is forced': 'git add -f deep/er/f',
  'a rule': 'echo "rule$((x % 4))" >>.gitignore',
  'a rule that hides a file': 'echo "d/new.*" >d/.gitignore',
  'a rule goes': 'rm -f .gitignore d/.gitignore',
  'a rule of the repository': 'echo "other$x" >.git/info/exclude',
  'something is staged': 'git add a && echo $x >>a',
  'a commit': 'git commit -qm $x --allow-empty',
  'a branch': 'git branch -f side HEAD && git commit -q --allow-empty -m $x',
  'another branch': 'git checkout -qB branch-$((x % 3))',
  'an operation in progress': 'git rev-parse HEAD >.git/MERGE_HEAD; [ $((x % 2)) = 0 ] || rm .git/MERGE_HEAD',
  'a repository inside': REPOSITORY_INSIDE,
};

/** What git itself does not see, while something else is reported, and now and then nothing is. */
export const REPORTED: Record<string, string> = {
  'the same size and time': SAME_SIZE_AND_TIME,
  'in place of another, with its time':
    'cp -p b ../b.was; printf %05d $((x % 99999)) >../b.new; touch -r ../b.was ../b.new; cat ../b.new >b; touch -r ../b.was b',
  'a repository inside': REPOSITORY_INSIDE,
  append: 'echo $x >>a',
};

/**
 * What takes objects away that captures read from the repository, and what brings such objects. Not both between two looks: what came
 * after a look had listed the objects, was read by it, and went before the next one, is not missed (docs/design.md).
 */
export const OBJECTS: Record<string, string> = {
  'objects come': 'echo $x >c; git add c',
  'a commit comes': 'echo $x >d/f; git add d/f; git commit -qm $x',
  'objects go': 'git reset -q; git prune --expire=now',
  'a commit goes':
    'git reset -q --soft HEAD~1; git reset -q; git reflog expire --all --expire=now; git gc -q --prune=now',
  'objects are packed': 'echo $x >a; git add a; git commit -qm $x; git repack -adq',
  'a pack is unpacked':
    'for p in .git/objects/pack/*.pack; do mv $p ../p; rm -f ${p%.pack}.*; git unpack-objects -q <../p; done',
  append: 'echo $x >>a',
};

/** The files of the capture, sourced; `look` is what a capture does with one repository, `still` what a restore asks first. */
const PROGRAM = `
set -- "$PATH" /nowhere
${sourced(...`shared/lib shared/run shared/host shared/discovery shared/torn capture/sound capture/conversion capture/shadow capture/borrowed capture/working-tree capture/add capture/held capture/left-out capture/sparse capture/host-state capture/stillness capture/follow capture/snapshot`.split(' '))}SESSION=s1 INCLUDE=() EXCLUDE=() MAX_BYTES=1000000 MAX_DEPTH=3 NESTED=() INNER=() ROOTS=(.) TARGET_ROOTS=(.)
HOME_DIR=$ROOT/.agent-shadow RUN=$ROOT/.agent-shadow/run; mkdir -p "$RUN"; OUT=$RUN/0 INDEX=0 REPOSITORY=.
count_processors; read_umask; read_user_config; read_mounts
enter() { : >"$OUT.err"; PARTIAL_FLAG=''; find_host && read_settings && read_head && base_name && open_shadow sha1; }
change() {
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
  for ((n = 0; n < $1; n++)); do :; done
  eval "$2"
} >/dev/null 2>&1
target=$(git write-tree)
# What git finds with an index that knows nothing. The one of the looks stays as it was.
whole() {
  local UNSEEDED=1 SINCE='' known
  slurp "$SHADOW/tree.id"
  known=$TEXT
  mv -f "$SHADOW/index" "$SHADOW/index.kept" && rm -f "$SHADOW/index.known"
  snapshot '' >"$OUT.report" || return
  SCRATCH="$TREE $META"
  mv -f "$SHADOW/index.kept" "$SHADOW/index" && ln -f "$SHADOW/index" "$SHADOW/index.known" && printf %s "$known" >"$SHADOW/tree.id"
}
follow() { begin_look && last_look && snapshot "$1" >"$OUT.report" && note_look "\${1:--}" && note_tree_id "$TREE" && keep_tree_ids ROOTS; }
while read -r -u 5 delay x name && read -r -u 5 script; do
  [ "$name" != nothing ] || sleep 0.1
  enter || { echo "FAILED enter"; continue; }
  [ "$delay" = after ] || change "$delay" "$script" &
  follow $target || { echo "FAILED look $name"; wait; continue; }
  tree=$TREE meta=$META
  wait
  [ "$delay" != after ] || (change 0 "$script")
  enter || { echo "FAILED enter"; continue; }
  said=moved
  ! still $target $tree $meta 2>/dev/null || said=still
  enter && follow '' || { echo "FAILED second look $name"; continue; }
  how=asked; [ -z "$FOLLOWED" ] || how=followed
  found="$TREE $META"
  git rev-list --objects --quiet "$TREE" 2>"$OUT.readable" || echo "unreadable $name: $(<"$OUT.readable")"
  [ ! -s "$OUT.report" ] || { how=reported; tr '\\0' ' ' <"$OUT.report"; echo; }
  enter && whole || { echo "FAILED whole look $name"; continue; }
  if [ "$found" = "$SCRATCH" ]; then echo "$how right $name"; else echo "$how wrong $name: $found, $SCRATCH"; fi
  if [ "$SCRATCH" != "$tree $meta" ]; then truth=moved; else truth=still; fi
  echo "$said $truth $name"
  [ "$said $truth" != 'still moved' ] || { echo "  captured $tree $meta, now $SCRATCH"; git diff-tree -r "$tree" "\${SCRATCH% *}"; git diff-tree -r -p "$meta" "\${SCRATCH#* }"; } | sed 's/^/  /'
done 5<"$RUN.rounds" 2>"$RUN.said"
`;

/** So many rounds; a look that is called still although git finds a change fails. */
export const looksAreHeldAgainstGit = async (
  rounds: number,
  seed: number,
  changes: Record<string, string> = CHANGES,
): Promise<void> => {
  const random = randomFrom(seed);
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main . && mkdir -p d leaf deep/er && for f in a b c e d/f d/g leaf/f leaf/g leaf/h deep/er/f; do echo 12345 >$f; done && echo deep >.git/info/exclude && git add -A && git commit -qm one',
  );
  const names = Object.keys(changes);
  const plan = Array.from({ length: rounds }, (_, round) => {
    // Whatever the seed, and however slow the look: something that moved.
    if (round === 4 || round === 5) return { name: 'append', delay: 'after', x: round };
    const name =
      round < 4 || round % 6 === 0 ? 'nothing' : (names[Math.floor(random() * names.length)] ?? 'nothing');
    // Up to some 30 milliseconds: before, in and after the look.
    return { name, delay: Math.floor(random() * 20_000), x: Math.floor(random() * 1e6) };
  });
  const lines = plan.map(({ name, delay, x }) => `${delay} ${x} ${name}\nx=${x}; ${changes[name] ?? ':'}\n`);
  harness.sh(`mkdir -p .agent-shadow && cat >.agent-shadow/run.rounds <<'END'\n${lines.join('')}END`);
  const { stdout } = spawnSync('/bin/bash', ['-c', PROGRAM], {
    cwd: harness.root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: harness.home },
  });
  const said = stdout.trimEnd().split('\n');
  const counted = (beginning: string) => said.filter((line) => line.startsWith(beginning)).length;
  expect(
    said.filter((line) => line.startsWith('still moved')),
    `SEED=${seed} ${said.join('\n')}`,
  ).toEqual([]);
  // A change may stop a look, in few rounds also two or three; what matters is that most say something, and that both answers occur.
  expect(counted('FAILED'), said.join('\n')).toBeLessThan(Math.max(4, rounds / 10));
  expect(counted('moved moved')).toBeGreaterThan(rounds / 10);
  expect(counted('still still')).toBeGreaterThan(0);
  // Of the looks that follow the times, none may find another tree than one that knows nothing.
  expect(
    said.filter((line) => / wrong /.test(line)),
    `SEED=${seed}`,
  ).toEqual([]);
  // What a capture says was captured can be read, whatever became of the objects that it borrowed.
  expect(
    said.filter((line) => line.startsWith('unreadable ')),
    `SEED=${seed}`,
  ).toEqual([]);
  expect(counted('followed right'), said.join('\n')).toBeGreaterThan(rounds / 8);
};
