/** What happens in the tests of places (places-work.ts): work as bash, checkpoints, and ways from one state to another. */
import * as fc from 'fast-check';

const FILES = ['a', 'key', 'in/a', 'in/key', 'in/deep/key', 'out/a', 'out/key', 'out/deep/a'];
const DIRECTORIES = ['in', 'in/deep', 'out', 'out/deep'];
/** Where a repository may be made: beside what git knows, in the place of it, and where git ignores it. */
const PLACES = ['in/nest', 'out/nest', 'in/deep', 'out', 'in', '../other'];

const inPlace = (path: string, script: string): string => `mkdir -p "$(dirname ${path})" && ${script}`;
const file = fc.constantFrom(...FILES);
const directory = fc.constantFrom(...DIRECTORIES);
const place = fc.constantFrom(...PLACES);
const content = fc.nat({ max: 99 });

const step: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(file, content).map(([path, n]) => inPlace(path, `echo ${n} > ${path}`)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(file, content)
      .map(([path, n]) => inPlace(path, `{ echo ${n}; head -c 3000 /dev/zero; } > ${path}`)),
  },
  { weight: 2, arbitrary: file.map((path) => `chmod 600 ${path}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('700', 'g+s', '755', '711'), directory)
      .map(([mode, path]) => `chmod ${mode} ${path}`),
  },
  { weight: 1, arbitrary: fc.oneof(file, directory).map((path) => `rm -rf ${path}`) },
  { weight: 1, arbitrary: directory.map((path) => `rm -rf ${path}; mkdir ${path}`) },
  { weight: 1, arbitrary: file.map((path) => `rm -rf ${path}; mkdir -p ${path}; echo q > ${path}/key`) },
  // Links in the place of directories, also to directories that hold files of the same names.
  {
    weight: 2,
    arbitrary: fc
      .tuple(directory, fc.constantFrom('in', 'out', 'nowhere', '../other'))
      .map(([path, to]) => `rm -rf ${path}; ln -s ${path.includes('/') ? '../' : ''}${to} ${path}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...DIRECTORIES, 'in/nest', 'out/nest'),
        fc.constantFrom('moved', 'out/moved', 'in/moved'),
      )
      .map(([path, to]) => `[ -L ${path} ] || mv -T ${path} ${to} || mv -T ${to} ${path}`),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom('.gitignore', 'in/.gitignore'),
        fc.constantFrom(
          'key',
          '/in/',
          'out/*',
          'out/',
          '!out/a',
          'deep',
          '!key',
          '!in/',
          'nest',
          'moved',
          '!nest/',
        ),
        fc.boolean(),
      )
      .map(([path, rule, isAdded]) => `printf '%s\\n' '${rule}' ${isAdded ? '>>' : '>'} ${path}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('rm -f .gitignore', 'rm -f in/.gitignore') },
  // No checkpoint holds these files, so what they name must not be seen later.
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('deep', 'out/a', 'nest'), fc.constantFrom('.git/info/exclude', '../../rules'))
      .map(
        ([rule, path]) => `git config core.excludesFile "$(realpath ../../rules)"; echo ${rule} >> ${path}`,
      ),
  },
  {
    weight: 4,
    arbitrary: fc.oneof(
      place.map((path) => `git init -q ${path}; cd ${path} && echo n > n && git add -A && git commit -qm n`),
      place.map(
        (path) => `cd ${path} && [ ! -f .gitignore ] && echo key > .gitignore; echo k > key; chmod 600 key`,
      ),
      place.map((path) => `cd ${path} && [ -e .git ] && echo $RANDOM > n; git commit -qam n`),
      place.map((path) => `rm -rf ${path}/.git`),
      place.map((path) => `rm -rf ${path}`),
      fc.tuple(place, place).map(([from, to]) => `[ -e ${from}/.git ] && mv -T ${from} ${to}`),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'git worktree add -qf in/tree HEAD',
      'git worktree add -qf ../tree HEAD',
      'git worktree remove -ff in/tree',
      'git worktree remove -ff ../tree; git worktree prune',
      'echo t > in/tree/new; echo key > in/tree/key',
      'git submodule add -q ../../src sub; git commit -qm sub',
      'git submodule deinit -qf sub',
      'git submodule update -q --init',
      'git rm -qf sub',
      'rm -rf sub',
      'echo key > sub/key; echo new > sub/new',
    ),
  },
  {
    weight: 6,
    arbitrary: fc.oneof(
      file.map((path) => `git add -f ${path}`),
      file.map((path) => `git rm -q --cached ${path}`),
      file.map((path) => `git rm -qf ${path}`),
      fc.constantFrom(
        'git add -A; git commit -qm all',
        'git commit -qam some',
        'git reset -q --hard',
        'git reset -q HEAD~1',
        'git checkout -qf HEAD~1',
        'git checkout -qf main',
        'git stash -q',
        'git stash -qu',
        'git stash pop -q',
        'git clean -qfd',
        'git clean -qffdx -e .agent-shadow',
      ),
    ),
  },
);

const work = fc.array(step, { minLength: 1, maxLength: 4 });

/** Work and then a checkpoint, or a way to another state from where the work stands. */
export type PlacesTurn =
  | { work: string[] }
  | { to: number; isUndone: boolean }
  | { to: number; paths: string[]; isUndone: boolean }
  | { revert: number; isUndone: boolean }
  | { fork: number; work: string[]; isUndone: boolean };

export const placesTurns = (limits: { minLength: number; maxLength: number }): fc.Arbitrary<PlacesTurn[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.record({ work }) },
      { weight: 2, arbitrary: fc.record({ to: fc.nat(), isUndone: fc.boolean() }) },
      {
        weight: 1,
        arbitrary: fc.record({
          to: fc.nat(),
          paths: fc.uniqueArray(fc.constantFrom(...FILES, ...DIRECTORIES, '.gitignore'), {
            minLength: 1,
            maxLength: 4,
          }),
          isUndone: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: fc.record({ revert: fc.nat(), isUndone: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ fork: fc.nat(), work, isUndone: fc.boolean() }) },
    ),
    limits,
  );
