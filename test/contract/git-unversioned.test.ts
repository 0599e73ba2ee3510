/** A repository made of a directory that was none: what was there when the checkpoint was taken stays, all else goes. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { applies, text, withRepositories, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-unversioned', 6);

const DOCS = 'mkdir -p docs/old docs/e; echo n > docs/notes.md; echo p > docs/old/p; echo keep > beside.txt';

const withDocs = async (made = DOCS) => {
  const harness = await withRepositories(['a']);
  harness.sh(made);
  return harness;
};

describe('git init in a directory that was there', () => {
  /** What becomes of a directory like `docs`; afterwards it is as it was, in all of them at once. */
  const CASES = [
    // An editor saves by renaming, so the file is younger than the checkpoint.
    'echo n > tmp; mv tmp notes.md',
    // And it keeps its birth when it is moved, so these are older than the checkpoint.
    'mv ../../older here; mv ../../older.d there',
    'mkdir -p made/and/empty; mkdir old/made',
    'echo m > m; git add -A; git commit -qm m; rm m',
    `echo x > $'new\nline'; echo y > $'\xff'; echo z > 'd older'; ln -s old link; chmod +x 'd older'`,
    'rm -r e; mkdir e; echo in > e/in',
  ];

  test('stays as it was by name, whatever the times of its files say', async () => {
    await using harness = await withDocs(
      `echo o > ../older; mkdir -p ../older.d/deep; echo o > ../older.d/deep/o
for d in ${CASES.map((_, index) => `docs${index}`).join(' ')}; do (mkdir $d; cd $d; ${DOCS}; mv docs/* .; rmdir docs
echo x > $'new line'; echo y > $'old\nline'; echo z > $'\xfe'; mkdir 'o [x]*'; echo z > 'o [x]*/?'; ln -s nowhere dangling; mkdir -p node_modules/x; echo x > node_modules/x/x); done`,
    );
    const before = files(harness.root);
    const first = await harness.capture();
    for (const [index, script] of CASES.entries())
      harness.sh(`cd docs${index}; git init -q -b main; ${script}`);
    const roots = ['a', ...CASES.map((_, index) => `docs${index}`)];
    const after = world(harness, roots);
    const { undo } = await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
    await applies(harness, undo);
    expect(world(harness, roots)).toEqual(after);
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
  });

  test('in the projects root, with repositories in it', async () => {
    await using harness = await withDocs();
    harness.sh('mkdir -p deep/b; git init -q -b main deep/b; echo b > deep/b/b; echo d > deep/d');
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh('git init -q -b main .; echo new > new; mkdir made; echo m > made/m; echo again > deep/again');
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
  });

  test('one in the other', async () => {
    await using harness = await withDocs();
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh(
      'git init -q -b main docs/old; git init -q -b main docs; echo 1 > docs/1; echo 2 > docs/old/2',
    );
    await applies(harness, first);
    expect(files(harness.root)).toEqual(before);
  });

  test('an empty directory, and one with an empty directory above, stay', async () => {
    await using harness = await withDocs('mkdir -p scratch work/empty');
    const before = files(harness.root);
    const first = await harness.capture();
    harness.sh(
      'git init -q -b main scratch; echo s > scratch/s; rmdir work/empty; git init -q -b main work/new',
    );
    await applies(harness, first);
    expect(readdirSync(`${harness.root}/scratch`)).toEqual([]);
    expect(existsSync(`${harness.root}/work/new`)).toBe(false);
    harness.sh('mkdir work/empty');
    expect(files(harness.root)).toEqual(before);
  });

  test('a file in the place of a directory goes', async () => {
    await using harness = await withDocs();
    const first = await harness.capture();
    harness.sh('git init -q -b main docs; rm -r docs/old; echo file > docs/old');
    await applies(harness, first);
    expect(existsSync(`${harness.root}/docs/old`)).toBe(false);
    expect(text(harness, 'docs/notes.md')).toBe('n\n');
  });

  test('the plan counts what goes, and says what stays', async () => {
    await using harness = await withDocs();
    const first = await harness.capture();
    harness.sh('git init -q -b main docs; echo new > docs/new');
    const before = files(harness.root);
    const { report } = await harness.rollback(first, { dryRun: true });
    expect(report.outcome).toBe('planned');
    expect(files(harness.root)).toEqual(before);
    const docs = report.repositories.find(({ path }) => path === 'docs');
    expect([docs?.deleted, docs?.paths]).toEqual([1, [{ path: 'new', change: 'delete' }]]);
    expect(report.warnings.join()).toContain('docs: 2 files stay');
    expect((await applies(harness, first)).report.warnings.join()).toContain('docs: 2 files stay');
  });
});

describe('where nobody knows what was there', () => {
  /** A note that is not whole, and one that somebody deleted. */
  const FORGET = {
    'a record that is cut': (root: string) => writeFileSync(`${root}/taken-s1/t1`, ''),
    'a record that is gone': (root: string) => rmSync(`${root}/taken-s1`, { recursive: true }),
  };

  for (const [name, forget] of Object.entries(FORGET))
    test(`${name}: all files stay, and that is said`, async () => {
      await using harness = await withDocs();
      const first = await harness.capture();
      harness.sh('git init -q -b main docs; echo new > docs/new; git clone -q a cloned');
      forget(`${harness.root}/.agent-shadow`);
      const looks = files(harness.root);
      for (const dryRun of [true, false]) {
        const { report } = await harness.rollback(first, { dryRun });
        expect(report.problems).toEqual([]);
        expect(report.warnings.join()).toContain('docs: 3 files stay, because nothing says');
      }
      expect(files(harness.root)).toEqual(looks);
      expect([existsSync(`${harness.root}/docs/.git`), existsSync(`${harness.root}/cloned/.git`)]).toEqual([
        false,
        false,
      ]);
    });

  test('so many files beside the repositories that they were not noted: all stay', async () => {
    await using harness = await withDocs();
    mkdirSync(`${harness.root}/many`);
    const name = 'n'.repeat(200);
    harness.sh(`for i in {1..21000}; do : > ${name}$i; done`, 'many');
    const first = await harness.capture();
    harness.sh('git init -q -b main docs; echo new > docs/new');
    expect((await applies(harness, first)).report.warnings.join()).toContain(
      'docs: 3 files stay, because nothing says',
    );
  });

  test('a checkpoint of another sandbox: what its template held stays, what was made since goes', async () => {
    await using harness = await withRepositories(['a']);
    const first = await harness.capture();
    harness.sh('echo more > a/more');
    const second = await harness.capture();
    expect((await harness.rehydrate(second, DOCS)).problems).toEqual([]);
    harness.sh('git init -q -b main docs; echo new > docs/new; git clone -q a cloned');
    await applies(harness, first);
    expect(existsSync(`${harness.root}/cloned`)).toBe(false);
    expect(readdirSync(`${harness.root}/docs`).toSorted()).toEqual(['e', 'notes.md', 'old']);
    expect(text(harness, 'docs/old/p')).toBe('p\n');
  });
});
