/** Files and directories whose modes changed while the directory above them became a repository, or ceased to be one. */
import { describe, expect } from 'vitest';
import { applies, goesBackAndForth, withTwoFiles, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-changed-kind', 4);

const NEW_REPOSITORY = 'git init -q -b main src; cd src; git add -A; git commit -qm inner';

describe('modes below a directory that became a repository', () => {
  test.for([
    ['of a file', 'chmod 600 src/main.c'],
    ['of a file that was made executable', 'chmod 711 src/main.c'],
    ['of a directory in it', 'chmod 700 src/deep'],
    ['of a file with another content', 'echo other > src/main.c; chmod 600 src/main.c'],
    [
      'of a file among others that change',
      'chmod 600 src/deep/leaf; echo other > src/main.c; echo o > a.txt',
    ],
    [
      'of a file beside a private one that stays',
      'umask 077; chmod 600 src/main.c; echo "*.key" > src/.gitignore',
    ],
  ])('%s go back', async ([, change]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('mkdir src/deep; echo leaf > src/deep/leaf; git add -A; git commit -qm deep', 'app');
    const work = () => harness.sh(`(${change}); ${NEW_REPOSITORY}`, 'app');
    await goesBackAndForth(harness, work, ['app'], ['app', 'app/src']);
  });

  test('that of the directory itself goes back', async () => {
    await using harness = await withTwoFiles(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(`chmod 700 src; ${NEW_REPOSITORY}`, 'app');
    await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(before);
  });

  test('those of files that no capture holds stay', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh(`echo '*.key' > src/.gitignore; ${NEW_REPOSITORY}`, 'app');
    harness.sh(
      'echo secret > own.key; chmod 600 own.key main.c; mkdir -m 700 keys; cp -p own.key keys',
      'app/src',
    );
    await applies(harness, first);
    expect(harness.sh('stat -c "%a %n" main.c own.key keys keys/own.key', 'app/src')).toBe(
      '644 main.c\n600 own.key\n700 keys\n600 keys/own.key\n',
    );
  });
});

describe('modes below a directory that was a repository', () => {
  test.for([
    ['of a file', 'chmod 600 src/main.c'],
    ['of a directory', 'chmod 700 src/deep'],
  ])('%s go back with the repository', async ([, change]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(`mkdir src/deep; echo leaf > src/deep/leaf; ${NEW_REPOSITORY}`, 'app');
    const work = () =>
      harness.sh(`rm -rf src/.git src/.agent-shadow; ${change}; git add -A; git commit -qm outer`, 'app');
    await goesBackAndForth(harness, work, ['app', 'app/src'], ['app']);
  });
});

describe('modes that change with the kind of the path', () => {
  test.for([
    [
      'a private file became a directory',
      'chmod 600 a.txt',
      'rm a.txt; mkdir -m 700 a.txt; echo in > a.txt/in; chmod 755 a.txt/in',
    ],
    [
      'a directory became a private file',
      'mkdir d; echo in > d/in; chmod 711 d',
      'rm -r d; echo file > d; chmod 600 d',
    ],
    ['a private file became a link', 'chmod 600 a.txt', 'rm a.txt; ln -s src a.txt'],
    ['a link became a private file', 'ln -s src link', 'rm link; echo file > link; chmod 600 link'],
    ['an empty directory became a file', 'mkdir -m 700 d', 'rmdir d; echo file > d'],
    [
      'a directory with a private file became a link',
      'mkdir d; echo in > d/in; chmod 600 d/in',
      'rm -r d; ln -s src d',
    ],
    [
      'a link became a directory with a private directory',
      'ln -s src d',
      'rm d; mkdir -p -m 700 d/deep/er; echo in > d/deep/in',
    ],
    ['a directory with an empty one became a link', 'mkdir -p d/empty', 'rm -r d; ln -s src d'],
    [
      'a directory became a link to one that has a directory where it had a file',
      'mkdir d src/same; echo in > src/same/in; echo file > d/same',
      'rm -r d; ln -s src d',
    ],
  ])('%s', async ([, before, after]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(before, 'app');
    await goesBackAndForth(harness, () => harness.sh(after, 'app'));
  });
});

describe('an ignored directory that the walk leaves out', () => {
  test('may be behind a link later', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('echo build/ > .gitignore; ln -s src d', 'app');
    await goesBackAndForth(harness, async () => {
      harness.sh('rm d; mkdir -p d/build; echo in > d/in; echo made > d/build/out', 'app');
      await harness.capture();
      // As a slow walk notes it.
      harness.sh(
        'printf "./d/build/\\0" > .agent-shadow/session-s1/ignored-directories; rm -r d/build',
        'app',
      );
    });
  });

  test.for([
    ['a symlink to a directory', 'ln -s src build'],
    ['a symlink to nowhere', 'ln -s nowhere build'],
    ['a file', 'echo file > build'],
    ['a repository', 'git init -q -b main build'],
    ['nothing', ':'],
  ])('may be %s before and later', async ([, make]) => {
    await using harness = await withTwoFiles(['app']);
    const noted = 'mkdir build; printf "./build/\\0" > .agent-shadow/session-s1/ignored-directories';
    harness.sh(`echo build/ > .gitignore; ${make}; echo two > a.txt`, 'app');
    const first = await harness.capture();
    harness.sh(`rm -rf build; ${noted}; echo three > a.txt`, 'app');
    await applies(harness, first);
    harness.sh(`rm -rf build; ${noted}`, 'app');
    await harness.capture();
    harness.sh(`rm -rf build; ${make}; echo four > a.txt`, 'app');
    const last = await harness.capture();
    expect(last.repositories[0]?.chain, 'its shadow is the one that it was').toBe('append');
  });
});
