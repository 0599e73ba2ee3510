/** Repositories that come in directories which git ignores. */
import { expect } from 'vitest';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-ignored-roots');

const MAKE = 'git init -q -b main "$1"; cd "$1"; echo in >in; git add in; git commit -qm in';

const ignoring = async () => {
  const harness = await withRepositories(['app']);
  harness.sh(
    "printf '%s/\\n' cache node_modules >.gitignore; mkdir -p cache/few cache/a/b node_modules; echo made >cache/out; git add -A; git commit -qm ignored",
    'app',
  );
  return harness;
};

type Harness = Awaited<ReturnType<typeof ignoring>>;

const rootsOf = ({ repositories }: Awaited<ReturnType<Harness['capture']>>): string[] =>
  repositories.map(({ path }) => path).toSorted();

const make = (harness: Harness, path: string): string => harness.sh(`set -- ${path}; ${MAKE}`, 'app');

test.for(['cache', 'cache/few', 'cache/came', 'cache/a/b/deep'])(
  '%s is found at once, rolled back and brought again',
  async (path) => {
    await using harness = await ignoring();
    await harness.capture();
    const first = await harness.capture();
    make(harness, path);
    const after = world(harness, ['app', `app/${path}`]);
    expect(rootsOf(await harness.capture())).toEqual(['app', `app/${path}`]);
    const { undo } = await applies(harness, first);
    await applies(harness, undo);
    expect(world(harness, ['app', `app/${path}`])).toEqual(after);
    expect(rootsOf(await harness.capture())).toEqual(['app', `app/${path}`]);
  },
);

test('those of other people, in a folder of dependencies, are never looked for', async () => {
  await using harness = await ignoring();
  const first = await harness.capture();
  make(harness, 'node_modules/tool');
  make(harness, 'cache/node_modules/tool');
  expect(rootsOf(await harness.capture())).toEqual(['app']);
  await applies(harness, first);
  expect(harness.sh('cat node_modules/tool/in cache/node_modules/tool/in', 'app')).toBe('in\nin\n');
});
