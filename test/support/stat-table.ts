/**
 * What a capture finds that trusts its stat table, held against a capture that knows nothing: after every kind of change, made
 * by another process at a random instant before, in or after the capture.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/announced.ts';
import { createCapture } from '../../adapters/git/program/capture.ts';
import { captureRequest } from './capture-request.ts';
import { createHarness } from './git-harness.ts';
import { randomFrom } from './racing-writer.ts';
import { programHere } from './sandbox-program.ts';

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

const capture = createCapture(programHere(), OUTPUT_BYTES);

/** Ends in any way: some changes find nothing to change. */
const CHANGE = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
for ((n = 0; n < $1; n++)); do :; done; x=$2; eval "$3"`;

/** So many rounds. A capture that is not equal to one of a session that knows nothing fails. */
export const capturesAreHeldAgainstNew = async (
  rounds: number,
  seed: number,
  changes: Record<string, string> = CHANGES,
): Promise<void> => {
  const random = randomFrom(seed);
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main . && mkdir -p d leaf deep/er && for f in a b c e d/f d/g leaf/f leaf/g leaf/h deep/er/f; do echo 12345 >$f; done && echo deep >.git/info/exclude && git add -A && git commit -qm one',
  );
  const change = async (delay: number, x: number, script: string): Promise<void> => {
    const child = spawn('/bin/bash', ['-c', CHANGE, 'change', `${delay}`, `${x}`, script], {
      cwd: harness.root,
      env: { PATH: process.env['PATH'] ?? '', HOME: harness.home },
      stdio: 'ignore',
    });
    await once(child, 'exit');
  };
  const take = async (sessionId: string, toolExecutionId: string) => {
    const request = captureRequest(harness.root, sessionId, { toolExecutionId, maxDepth: 3 });
    const { repositories, failures, skipped } = await capture(harness.sandbox, request, async () => null);
    const ids = repositories.map(({ path, state, tree, meta }) => ({ path, state, tree, meta }));
    return { ids: ids.toSorted((one, other) => (one.path < other.path ? -1 : 1)), failures, skipped };
  };
  const names = Object.keys(changes);
  const states = new Set<string>();
  let raced = 0;
  for (let round = 0; round < rounds; round += 1) {
    const name = names[Math.floor(random() * names.length)] ?? '';
    const label = `SEED=${seed}, round ${round}: ${name}`;
    // Up to some 30 milliseconds: before, in and after the capture.
    const changed = change(Math.floor(random() * 20_000), Math.floor(random() * 1e6), changes[name] ?? ':');
    const racing = await take('held', `r${round}`);
    await changed;
    const found = await take('held', `f${round}`);
    const fresh = await take(`new${round}`, 'n');
    expect(found, label).toEqual(fresh);
    expect((await take('held', `a${round}`)).ids, `${label}, once more`).toEqual(found.ids);
    // What a capture says was captured can be read, whatever became of the objects that it borrowed.
    for (const { path, state, tree } of found.ids)
      if (state === 'captured')
        harness.sh(`git --git-dir=.agent-shadow/session-held rev-list --objects --quiet ${tree}`, path);
    harness.sh(`rm -rf .agent-shadow/session-new${round} inner/.agent-shadow/session-new${round}`);
    const state = JSON.stringify(found.ids);
    states.add(state);
    if (JSON.stringify(racing.ids) !== state) raced += 1;
  }
  process.stdout.write(
    `git-stat-table: ${states.size} states in ${rounds} rounds; ${raced} captures saw another one before\n`,
  );
  expect(states.size).toBeGreaterThan(rounds / 6);
  // Of few rounds, each change may come before its capture.
  if (rounds >= 100) expect(raced).toBeGreaterThan(rounds / 20);
};
