/** What other processes write while a restore is at work becomes a capture of its own, which can be restored. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect } from 'vitest';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { beforePlacing } from '../support/placing.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** A third of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-late', 3);

const ODD = ['-n', 's p', 'new\nline', 'caf\udcff'];

test('files written late are captured on what was there before, go back and forth, and are not kept twice', async () => {
  using others = beforePlacing(
    `printf 'late\\n' >log; rm -f link dir; ln -s elsewhere link; mkdir dir; echo in >dir/in; for i in -n 's p' $'new\\nline' $'caf\\xff'; do echo "late $i" >"$i"; done; chmod +x ./-n`,
  );
  await using harness = await withRepositories(['app', 'lib'], { env: others.env });
  const make = `for i in log link dir -n 's p' $'new\\nline' $'caf\\xff'; do echo $1 >"$i"; done`;
  harness.sh(`set -- one; ${make}; echo u > untouched`, 'app');
  const first = await harness.capture();
  harness.sh(`set -- two; ${make}; git checkout -qb topic; echo s > staged; git add staged`, 'app');
  harness.sh('echo l > l', 'lib');
  const now = await harness.capture(first);
  const before = world(harness, ['app', 'lib']);
  others.arm(harness.root);
  const { report } = await applies(harness, first, { from: now });
  expect(report.asides?.flatMap(({ late }) => late).length).toBe(ODD.length + 3);
  const restored = world(harness, ['app', 'lib']);

  const late = await harness.captureLate(now);
  expect(late.report.failures).toEqual([]);
  expect(late.report.late?.toSorted()).toEqual(
    ['app/-n', 'app/caf\\xff', 'app/dir/in', 'app/link', 'app/log', 'app/new\nline', 'app/s p'].toSorted(),
  );
  expect(late.repositories.map(({ path, changed }) => [path, changed])).toEqual([
    ['app', true],
    ['lib', false],
  ]);
  // Asked again before it is stored, it finds the same.
  const again = await harness.captureLate(now);
  expect(again.repositories.map(({ tree }) => tree)).toEqual(late.repositories.map(({ tree }) => tree));
  expect(world(harness, ['app', 'lib'])).toEqual(restored);
  await harness.lateStored(again);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);

  await applies(harness, late);
  expect(
    harness.sh(
      'cat log; readlink link; cat dir/in; cat -- -n "s p"; stat -c %a -- -n; git branch --show-current',
      'app',
    ),
  ).toBe('late\nelsewhere\nin\nlate -n\nlate s p\n755\ntopic\n');
  await applies(harness, now);
  expect(world(harness, ['app', 'lib'])).toEqual(before);
});

test('a fresh sandbox is made from a capture of late files', async () => {
  using others = beforePlacing('echo late >f.txt');
  await using harness = await withRepositories(['app'], { env: others.env });
  const first = await harness.capture();
  harness.sh('echo two > f.txt; echo u > untracked', 'app');
  others.arm(harness.root);
  const { undo } = await applies(harness, first);
  const late = await harness.captureLate(undo);
  const report = await harness.rehydrate(late);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(harness.sh('cat f.txt untracked', 'app')).toBe('late\nu\n');
});

test('a file that is held open is captured each time it was written, and goes when it is closed', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh('echo begin > log', 'app');
  const first = await harness.capture();
  harness.sh('echo two > log', 'app');
  const second = await harness.capture(first);
  const held = await open(`${harness.root}/app/log`, 'a');
  await applies(harness, first, { from: second });
  await held.appendFile('late 1\n');
  const one = await harness.captureLate(second);
  expect(one.report.late).toEqual(['app/log']);
  await harness.lateStored(one);
  // Nothing new was written since, and it is open.
  const there = await applies(harness, second);
  expect(there.report.asides).toMatchObject([{ late: [], open: ['log'] }]);
  expect((await harness.captureLate(second)).report.late).toEqual([]);
  await held.appendFile('late 2\n');
  const back = await applies(harness, first);
  expect(back.report.asides).toMatchObject([{ late: ['log'], open: ['log'] }]);
  const two = await harness.captureLate(second);
  await held.close();
  await harness.lateStored(two);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  for (const [late, text] of [
    [one, 'two\nlate 1\n'],
    [two, 'two\nlate 1\nlate 2\n'],
  ] as const) {
    await applies(harness, late);
    expect(readFileSync(`${harness.root}/app/log`, 'utf8')).toBe(text);
  }
});

/** Opens this file, rolls back to before a change of it, and appends to what was opened, also in a repository that goes. */
const heldOpen = async (env: Record<string, string>, arm: () => void) => {
  const harness = await withRepositories(['app'], { env });
  const first = await harness.capture();
  harness.sh('echo two > f.txt', 'app');
  harness.sh('mkdir gone; cd gone; git init -q -b main .; echo g > g; git add g; git commit -qm g');
  const now = await harness.capture(first);
  const held = await Promise.all(['app/f.txt', 'gone/g'].map((path) => open(`${harness.root}/${path}`, 'a')));
  arm();
  await applies(harness, first, { from: now });
  for (const file of held) await file.appendFile('held\n').then(() => file.close());
  const late = await harness.captureLate(now);
  expect(late.report.failures).toEqual([]);
  return { harness, late };
};

test('late files of a repository that is set aside are there, beside those of one that stays', async () => {
  const { harness, late } = await heldOpen({}, () => undefined);
  await using _ = harness;
  expect(late.report.late?.toSorted()).toEqual(['app/f.txt', 'gone/g']);
  await harness.lateStored(late);
  await applies(harness, late);
  expect(harness.sh('cat app/f.txt gone/g; git -C gone log --format=%s')).toBe('two\nheld\ng\nheld\ng\n');
});

test('a late version takes the name of no other file', async () => {
  await using harness = await withRepositories(['app']);
  harness.sh('echo one > log; echo one > d', 'app');
  const first = await harness.capture();
  harness.sh('echo two > log; echo rotated > log.1; rm d; mkdir d; echo in > d/f', 'app');
  const now = await harness.capture(first);
  const hold = (...names: string[]) =>
    Promise.all(names.map((name) => open(`${harness.root}/app/${name}`, 'a')));
  const held = await hold('log', 'd/f');
  await applies(harness, first, { from: now });
  held.push(...(await hold('d')));
  await applies(harness, now);
  held.push(...(await hold('log')));
  await applies(harness, first);
  for (const [number, file] of held.entries()) await file.appendFile(`${number}\n`).then(() => file.close());
  const late = await harness.captureLate(now);
  expect(late.report.failures).toEqual([]);
  const versions = late.report.late?.toSorted() ?? [];
  expect(versions).toHaveLength(held.length);
  // Asked again on top of that, it finds the same under the same names.
  const again = await harness.captureLate(late);
  expect(again.repositories).toMatchObject([{ path: 'app', changed: false }]);
  await harness.lateStored(again);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  await applies(harness, late);
  const texts = versions.map((name) => readFileSync(`${harness.root}/${name}`, 'utf8')).toSorted();
  expect(texts).toEqual(['in\n1\n', 'one\n2\n', 'two\n0\n', 'two\n3\n']);
  expect(harness.sh('cat log.1', 'app')).toBe('rotated\n');
});

test('what no checkpoint can hold stays where it was put aside', async () => {
  // Some are still there at that instant, and some are put aside.
  using others = beforePlacing(
    'rm -f f.txt pipe; git init -q f.txt; mkfifo pipe; head -c 5000 /dev/zero >big',
  );
  await using harness = await withRepositories(['app'], { env: others.env, maxFileBytes: 4000 });
  harness.sh('echo one > pipe; echo one > big', 'app');
  const first = await harness.capture();
  harness.sh('echo two > f.txt; echo two > pipe; echo two > big', 'app');
  const now = await harness.capture(first);
  others.arm(harness.root);
  const { report } = await applies(harness, first, { from: now });
  const late = await harness.captureLate(now);
  expect([late.report.failures, late.report.late]).toEqual([[], []]);
  expect(late.report.skipped).toMatchObject(
    [{ path: 'app/big', reason: /larger than 4000 bytes/ }].map(({ path }) => ({ path })),
  );
  await harness.lateStored(late);
  expect(readdirSync(report.asides?.[0]?.directory ?? '').toSorted()).toEqual(['big', 'f.txt', 'pipe']);
});
