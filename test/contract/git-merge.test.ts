/** Merging captures in a sandbox: real git, one session whose timeline has two branches. */
import { expect } from 'vitest';
import type { Conflict } from '../../contract/rollback-answers.ts';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-merge', 3);

const BEGIN = `
git init -q -b main r; cd r
seq 70 90 > key; echo left > left
seq 1 20 > text; printf 'a\\0b' > data.bin; printf 'one\\r\\n' > crlf; ln -s text link; mkdir -p d; echo x > d/f; seq 30 60 > moved
printf '* merge=union\\n' > .gitattributes; printf '*.ignored\\n' > .gitignore
git add -A; git commit -qm first
echo secret > private; chmod 600 private; mkdir -p empty/inside`;

interface Sides {
  harness: Harness;
  base: Snapshot;
  ours: Snapshot;
  theirs: Snapshot;
}

/** The state of the first script, and what the two others make of it. The sandbox is left at ours. */
const sides = async (begin: string, ours: string, theirs: string): Promise<Sides & AsyncDisposable> => {
  const harness = await createHarness();
  harness.sh(begin);
  const base = await harness.capture();
  harness.sh(`cd r; ${theirs}`);
  const other = await harness.capture();
  expect((await harness.rollback(base)).report.problems).toEqual([]);
  harness.sh(`cd r; ${ours}`);
  const now = await harness.capture();
  return {
    harness,
    base,
    ours: now,
    theirs: other,
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
};

const merged = async ({ harness, base, theirs }: Sides): Promise<void> => {
  const { report, merged: goal } = await harness.compose([{ base, theirs }]);
  expect({ conflicts: report.conflicts, failures: report.failures }).toEqual({ conflicts: [], failures: [] });
  const { report: restored } = await harness.rollback(goal);
  expect(restored.problems).toEqual([]);
  expect(restored.outcome).toBe('applied');
};

const outside = (harness: Harness): string[] => [
  ...files(harness.root),
  ...gitState(`${harness.root}/r`).map((line) => `r: ${line}`),
];

test('both sides are there after a merge, byte for byte, with modes and empty directories', async () => {
  await using at = await sides(
    BEGIN,
    `sed -i 1s/.*/ours/ text; echo mine > own; chmod 640 own; mkdir -p empty/ours`,
    `sed -i 20s/.*/theirs/ text; printf 'x\\r\\n' > crlf; rm -r d; echo new > 'odd "name'; chmod 755 crlf; chmod 400 private; mkdir -p hollow/empty; printf 'c\\0d' > data.bin`,
  );
  await merged(at);
  const { harness } = at;
  expect(
    harness.sh(
      'cd r; sed -n "1p;20p" text; cat own "odd \\"name"; stat -c "%a" own crlf private; od -c data.bin | head -1; ls -d d empty/* hollow/* 2>&1 || true',
    ),
  ).toBe(
    `ours\ntheirs\nmine\nnew\n640\n755\n400\n0000000   c  \\0   d\nls: cannot access 'd': No such file or directory\nempty/inside\nempty/ours\nhollow/empty\n`,
  );
});

test('into a state that did not change, the other side comes as it is, commits and index included', async () => {
  await using at = await sides(
    BEGIN,
    'true',
    `echo c > text; git add -A; git commit -qm second; git switch -qc topic; echo staged > s; git add s; echo more >> s; chmod 600 crlf`,
  );
  const { harness, base, theirs } = at;
  await harness.rollback(theirs);
  const wanted = outside(harness);
  await harness.rollback(base);
  await harness.capture();
  await merged(at);
  expect(outside(harness)).toEqual(wanted);
});

test('HEAD, branches and index stay where both sides changed them, and the files still come', async () => {
  await using at = await sides(
    BEGIN,
    `echo o > o; git add o; git commit -qm ours`,
    `echo t > t; git add t; git commit -qm theirs`,
  );
  const { harness, base, theirs } = at;
  const { report, merged: goal } = await harness.compose([{ base, theirs }]);
  expect(report.hostKept).toEqual(['r']);
  expect((await harness.rollback(goal)).report.outcome).toBe('applied');
  expect(harness.sh('cd r; git log --format=%s; cat o t; git status --porcelain t')).toBe(
    'ours\nfirst\no\nt\n?? t\n',
  );
});

const CONFLICTS: Record<string, { ours: string; theirs: string; path: string; kind: Conflict['kind'] }> = {
  'content, whatever .gitattributes says': {
    ours: 'echo o > text',
    theirs: 'echo t > text',
    path: 'text',
    kind: 'content',
  },
  'added on both sides': { ours: 'echo o > new', theirs: 'echo t > new', path: 'new', kind: 'content' },
  'changed here, deleted there': {
    ours: 'echo o >> d/f',
    theirs: 'rm -r d',
    path: 'd/f',
    kind: 'modify/delete',
  },
  binary: {
    ours: "printf 'o\\0' > data.bin",
    theirs: "printf 't\\0' > data.bin",
    path: 'data.bin',
    kind: 'binary',
  },
  mode: { ours: 'chmod 640 private', theirs: 'chmod 400 private', path: 'private', kind: 'mode' },
  'mode and the bit in the tree': {
    ours: 'chmod 640 crlf',
    theirs: 'chmod 755 crlf',
    path: 'crlf',
    kind: 'mode',
  },
  'mode here, gone there': { ours: 'chmod 600 left', theirs: 'rm left', path: 'left', kind: 'mode' },
  'renamed here, mode there': { ours: 'mv key kept', theirs: 'chmod 600 key', path: 'key', kind: 'mode' },
  symlink: { ours: 'ln -sfn d/f link', theirs: 'ln -sfn crlf link', path: 'link', kind: 'symlink' },
  'file and directory': {
    ours: 'mkdir place; echo o > place/x',
    theirs: 'echo t > place',
    path: 'place',
    kind: 'file/directory',
  },
  'renamed twice': { ours: 'git mv moved here', theirs: 'git mv moved there', path: 'moved', kind: 'rename' },
};

test('conflicts are named by path and kind, and nothing is made', async () => {
  const all = Object.values(CONFLICTS);
  await using at = await sides(
    BEGIN,
    all.map(({ ours }) => ours).join('\n'),
    all.map(({ theirs }) => theirs).join('\n'),
  );
  const { harness, base } = at;
  const before = outside(harness);
  const { report } = await harness.compose([{ base, theirs: at.theirs }]);
  const found = report.conflicts.map(({ path, kind }) => ({ path: path.replace(/~.*/, ''), kind }));
  for (const { path, kind } of all) expect(found).toContainEqual({ path, kind });
  expect(new Set(report.conflicts.map(({ path }) => path)).size).toBe(report.conflicts.length);
  expect(report.conflicts.every(({ repository, message }) => repository === 'r' && message !== '')).toBe(
    true,
  );
  expect(report.bundles).toEqual([]);
  expect(outside(harness)).toEqual(before);
});

test('renames over which git ends on an error of its own are merged without those of directories', async () => {
  await using at = await sides(
    'git init -q -b main r; cd r; mkdir -p x/c y; ln -s x x/c/e; echo cc > y/c; git add -A; git commit -qm first',
    'rm -r x y; ln -s x y',
    'mkdir -p h/e x/c/y; mv y/c h/e/c; rmdir y; mv x/c/e x/c/y/c; ln -s ../x x/c/h',
  );
  const { harness, base, theirs } = at;
  const { report } = await harness.compose([{ base, theirs }]);
  expect(report.conflicts.length).toBeGreaterThan(0);
});

test('with markers, what git has no content for is merged without renames of directories', async () => {
  await using at = await sides(
    'git init -q -b main r; cd r; mkdir -p d/e/g; echo in > d/e/g/in; seq 60 > d/f; git add -A; git commit -qm first',
    'rm -r d/e/g; seq 20 60 > d/e/g',
    'mv d moved; rm moved/f; mkdir moved/f; echo in > moved/f/in',
  );
  const { harness, base, theirs } = at;
  const { report, merged: goal } = await harness.compose([{ base, theirs }], { markers: true });
  expect([report.failures, report.conflicts.length > 0]).toEqual([[], true]);
  const applied = await harness.rollback(goal);
  expect([applied.report.outcome, applied.report.problems]).toEqual(['applied', []]);
});

test('with markers, a conflict is a state like any other', async () => {
  await using at = await sides(BEGIN, 'sed -i 3s/.*/ours/ text', 'sed -i 3s/.*/theirs/ text; echo n > n');
  const { harness, base, theirs } = at;
  const { report, merged: goal } = await harness.compose([{ base, theirs }], { markers: true });
  expect(report.conflicts.map(({ path }) => path)).toEqual(['text']);
  expect((await harness.rollback(goal)).report.outcome).toBe('applied');
  expect(harness.sh('cd r; sed -n 3,7p text; cat n')).toBe(
    '<<<<<<< target\nours\n=======\ntheirs\n>>>>>>> fork\nn\n',
  );
});

test('one change in the middle is taken out, and later ones stay', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const before = await harness.capture();
  harness.sh('cd r; sed -i 1s/.*/bad/ text; echo bad > bad; chmod 644 private');
  const after = await harness.capture();
  harness.sh('cd r; sed -i 20s/.*/good/ text; echo good > good');
  await harness.capture();
  const { merged: goal } = await harness.compose([{ base: after, theirs: before }]);
  await harness.rollback(goal);
  expect(harness.sh('cd r; sed -n "1p;20p" text; ls; stat -c %a private')).toBe(
    '1\ngood\ncrlf\nd\ndata.bin\nempty\ngood\nkey\nleft\nlink\nmoved\nprivate\ntext\n600\n',
  );
});

test('only some paths come back, and a path that is nowhere is named', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const then = await harness.capture();
  harness.sh(
    'cd r; echo 2 > text; chmod 644 private; rm -r d; echo new > new; git add -A; git commit -qm second',
  );
  const now = await harness.capture();
  const paths = { r: ['d', 'private', 'new', 'nowhere'] };
  const { report, merged: goal } = await harness.compose([{ base: now, theirs: then }], { paths });
  expect(report.unknownPaths).toEqual(['r/nowhere']);
  await harness.rollback(goal);
  expect(
    harness.sh('cd r; cat text d/f; stat -c %a private; ls new 2>/dev/null || true; git log -1 --format=%s'),
  ).toBe('2\nx\n600\nsecond\n');
});

test('an empty directory comes back by its name, and one that is new goes', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  harness.sh('cd r; mkdir -p hollow a/b/c; chmod 700 hollow');
  const then = await harness.capture();
  harness.sh('cd r; rmdir hollow a/b/c a/b a; mkdir -p new/newer kept');
  const now = await harness.capture();
  const paths = { r: ['hollow', 'a/b', 'new', 'nowhere'] };
  const { report, merged: goal } = await harness.compose([{ base: now, theirs: then }], { paths });
  expect(report.unknownPaths).toEqual(['r/nowhere']);
  await harness.rollback(goal);
  expect(harness.sh('cd r; stat -c "%a %n" hollow a/b/c kept; ls -d new 2>/dev/null || true')).toBe(
    '700 hollow\n755 a/b/c\n755 kept\n',
  );
});

test('a directory and what is in it are both found, whichever of them a list names', async () => {
  await using at = await sides(
    `${BEGIN}\nmkdir p; echo k > p/k; chmod 600 p/k; chmod 700 p`,
    'echo g > d/g; chmod 600 d/g',
    'rm d/f; echo t > t',
  );
  await merged(at);
  const { harness, base } = at;
  expect(harness.sh('cd r; stat -c "%a %n" p p/k d/*')).toBe('700 p\n600 p/k\n600 d/g\n');
  const paths = { r: ['d', 'd/f'] };
  const now = await harness.capture();
  const { report, merged: goal } = await harness.compose([{ base: now, theirs: base }], { paths });
  expect(report.unknownPaths).toEqual([]);
  await harness.rollback(goal);
  expect(harness.sh('cd r; ls d t')).toBe('t\n\nd:\nf\n');
});

test('objects that the sandbox lost are asked for, and brought', async () => {
  await using at = await sides(BEGIN, 'echo o > o', 'echo t > t');
  const { harness, base, theirs } = at;
  harness.sh('rm -rf r/.agent-shadow');
  await harness.capture();
  const { report } = await harness.compose([{ base, theirs }], { once: true });
  expect(report.missing).toEqual(['r']);
  const { merged: goal } = await harness.compose([{ base, theirs }], { bring: true });
  await harness.rollback(goal);
  expect(harness.sh('cd r; cat o t')).toBe('o\nt\n');
});

test('what the other side fetched below the boundary of a shallow clone comes as files', async () => {
  const begin = `git init -q -b main ../origin; for i in 1 2 3 4; do echo $i > ../origin/f; git -C ../origin add -A; git -C ../origin commit -qm $i; done
git clone -q --depth 1 "file://$PWD/../origin" r`;
  await using at = await sides(
    begin,
    'git rev-parse main > .git/shallow',
    'git fetch -q --unshallow; git checkout -q HEAD~2',
  );
  const { report, merged: goal } = await at.harness.compose([{ base: at.base, theirs: at.theirs }]);
  expect([report.conflicts, report.failures, report.hostKept]).toEqual([[], [], ['r']]);
  expect((await at.harness.rollback(goal)).report.outcome).toBe('applied');
  expect(at.harness.sh('cat f; git rev-list --count HEAD', 'r')).toBe('2\n1\n');
  expect((await at.harness.rehydrate(goal)).outcome).toBe('applied');
  expect(at.harness.sh('cat f; git fsck 2>&1; git rev-list --count HEAD', 'r')).toBe('2\n1\n');
});
