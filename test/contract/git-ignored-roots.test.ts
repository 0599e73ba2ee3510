/** Repositories that come in ignored directories which a walk goes around, because they made it slow. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { replacedCommand } from '../support/placing.ts';

const SHADOW = '.agent-shadow/session-s1';
/** As a slow walk notes them. */
const NOTED = `printf './%s/\\0' cache node_modules >${SHADOW}/ignored-directories; date +%s >${SHADOW}/ignored-checked`;
const MAKE = 'git init -q -b main "$1"; cd "$1"; echo in >in; git add in; git commit -qm in';

const slowFind = () => replacedCommand('find', 'sleep 0.08; exec -a find "$real" "$@"\n');

const ignoring = async (env: Readonly<Record<string, string>> = {}) => {
  const harness = await withRepositories(['app'], { env });
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

test.for(['cache', 'cache/few', 'cache/came'])('%s is found, rolled back and brought again', async (path) => {
  await using harness = await ignoring();
  await harness.capture();
  harness.sh(NOTED, 'app');
  const first = await harness.capture();
  make(harness, path);
  const after = world(harness, ['app', `app/${path}`]);
  expect(rootsOf(await harness.capture())).toEqual(['app', `app/${path}`]);
  const { undo } = await applies(harness, first);
  await applies(harness, undo);
  expect(world(harness, ['app', `app/${path}`])).toEqual(after);
  expect(rootsOf(await harness.capture())).toEqual(['app', `app/${path}`]);
});

test.for(['fast', 'slow'])(
  'where a walk is %s, deeper ones are looked for every ten minutes, and those of others never',
  async (walk) => {
    using slow = slowFind();
    await using harness = await ignoring(slow.env);
    if (walk === 'slow') slow.arm();
    await harness.capture();
    harness.sh(NOTED, 'app');
    await harness.capture();
    make(harness, 'node_modules/tool');
    make(harness, 'cache/a/b/deep');
    expect(rootsOf(await harness.capture())).toEqual(['app']);
    const before = Math.floor(Date.now() / 1000) - 601;
    writeFileSync(`${harness.root}/app/${SHADOW}/ignored-checked`, `${before}\n`);
    expect(rootsOf(await harness.capture())).toEqual(['app', 'app/cache/a/b/deep']);
    // It is known now.
    harness.sh(NOTED, 'app');
    expect(rootsOf(await harness.capture())).toEqual(['app', 'app/cache/a/b/deep']);
  },
);

test('where each walk is slow, a repository in an ignored directory is found at once', async () => {
  using slow = slowFind();
  await using harness = await ignoring(slow.env);
  slow.arm();
  const first = await harness.capture();
  expect(harness.sh(`tr '\\0' ' ' <${SHADOW}/ignored-directories`, 'app')).toContain('./cache/');
  make(harness, 'cache/came');
  expect(rootsOf(await harness.capture())).toEqual(['app', 'app/cache/came']);
  await applies(harness, first);
});
