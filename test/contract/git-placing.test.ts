/** How new files get their names in a restore: complete, in one step, and never over what another process made. */
import { lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { expect } from 'vitest';
import { commandFaults } from '../support/command-faults.ts';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { beforePlacing, replacedCommand } from '../support/placing.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** A third of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-placing', 5);

test('a file that is made again before a new file gets its name is put aside, and the new one is there', async () => {
  using others = beforePlacing(
    'for i in file link became-link became-file d/deep; do rm -f $i; echo "others $i" >$i; done; rm -f dir; mkdir dir; echo i >dir/i',
  );
  await using harness = await withRepositories(['app'], { env: others.env });
  harness.sh(
    'mkdir d "s p"; for i in file became-link dir d/deep "s p/-x" $"d/\n"; do echo one > "$i"; done; ln -s f.txt link; ln -s gone became-file; ln -s d inner',
    'app',
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    'for i in file dir d/deep "s p/-x"; do echo two > "$i"; done; rm $"d/\n" became-link became-file; ln -sf file link; ln -s x became-link; echo x > became-file; rm inner; mkdir inner; echo x > inner/x',
    'app',
  );
  await harness.capture();
  others.arm(harness.root);
  const { report } = await harness.rollback(first);
  expect([report.outcome, report.problems, others.isArmed()]).toEqual(['applied', [], false]);
  expect(world(harness, ['app'])).toEqual(before);
  const [aside, ...more] = report.asides ?? [];
  expect(more).toEqual([]);
  expect(aside?.late.toSorted()).toEqual(['became-file', 'became-link', 'd/deep', 'dir/i', 'file', 'link']);
  expect(readFileSync(`${aside?.directory}/link`, 'utf8')).toBe('others link\n');
});

for (const [what, before, path] of [
  ['a file', 'echo others >new', 'new'],
  ['a link to a file', 'ln -s f.txt new', 'new'],
  ['a file where a directory is to be', 'echo others >there', 'there'],
  ['a link where a directory is to be', 'ln -s d there', 'there'],
] as const)
  test(`${what} that appears where the target has something new stays, and the rollback is put back`, async () => {
    using others = beforePlacing(before);
    await using harness = await withRepositories(['app'], { env: others.env });
    harness.sh('mkdir d there; echo one > one; echo new > new; echo t > there/t', 'app');
    const first = await harness.capture();
    harness.sh('echo two > one; rm -r new there', 'app');
    const before2 = world(harness, ['app']);
    await harness.capture();
    others.arm(harness.root);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    const { root } = harness;
    const look = lstatSync(`${root}/app/${path}`);
    expect(
      look.isSymbolicLink()
        ? readlinkSync(`${root}/app/${path}`)
        : readFileSync(`${root}/app/${path}`, 'utf8'),
    ).toBe(look.isSymbolicLink() ? before.split(' ')[2] : 'others\n');
    harness.sh(`rm ${path}`, 'app');
    expect(world(harness, ['app'])).toEqual(before2);
  });

test('directories that stay keep their modes, and hand on their group', async () => {
  await using harness = await withRepositories(['app']);
  const isRoot = process.getuid?.() === 0;
  harness.sh(
    `mkdir -p narrow shared; chmod 700 narrow; ${isRoot ? 'chgrp 1 shared;' : ''} chmod 2775 shared; echo one > narrow/f; echo one > shared/f`,
    'app',
  );
  const first = await harness.capture();
  harness.sh('echo two > narrow/f; echo two > shared/f', 'app');
  await applies(harness, first);
  const at = (path: string) => statSync(`${harness.root}/app/${path}`);
  expect([at('narrow').mode & 0o7777, at('shared').mode & 0o7777]).toEqual([0o700, 0o2775]);
  expect(at('shared/f').gid).toBe(at('shared').gid);
});

test('a rollback of many files starts no more processes than one of a few', async () => {
  using faults = commandFaults();
  await using harness = await withRepositories(['app'], { env: faults.env });
  const started = async (count: number): Promise<number> => {
    harness.sh(
      `for i in {1..${count}}; do mkdir -p in/$i; echo one > in/$i/f; ln -sfn f in/$i/l; done; git add in`,
      'app',
    );
    const first = await harness.capture();
    harness.sh(`for i in {1..${count}}; do echo two > in/$i/f; rm in/$i/l; done; git add in`, 'app');
    const now = await harness.capture(first);
    let calls = 0;
    await applies(harness, first, {
      from: now,
      around: async (restore) => {
        let report: Awaited<ReturnType<typeof restore>> | undefined;
        const made = await faults.record(async () => {
          report = await restore();
        });
        if (report === undefined) throw new Error('no report');
        calls = made.length;
        return report;
      },
    });
    return calls;
  };
  await started(2);
  const few = await started(3);
  expect(few).toBeGreaterThan(0);
  // Git may have to look twice at files of the same instant: some processes, however many files there are.
  expect(await started(120)).toBeLessThan(few + 20);
});

for (const path of ['app', 'app/come'])
  test(`putting back takes away the directories made for new files in ${path}`, async () => {
    using half = replacedCommand(
      'git',
      `[[ $* == *--git-dir=*/${path}/.git\\ * && " $* " == *' update-ref '* ]] || exec "$real" "$@"\nexit 1\n`,
    );
    await using harness = await withRepositories(['app', 'app/come'], { env: half.env });
    harness.sh(
      'mkdir -p deep/er kept/empty was; echo d > deep/er/d; echo w > was/w; mkdir come/in; echo i > come/in/i',
      'app',
    );
    const first = await harness.capture();
    harness.sh('rm -rf deep was/w come; git branch since', 'app');
    const before = world(harness, ['app']);
    const second = await harness.capture(first);
    half.arm();
    const { report } = await harness.rollback(first, { from: second });
    expect([report.outcome, world(harness, ['app'])]).toEqual(['reverted', before]);
  });

test('a file that changes starts no process, in however many repositories', async () => {
  using faults = commandFaults();
  await using harness = await withRepositories(['a', 'b', 'c', 'd', 'e'], { env: faults.env });
  const started = async (names: string): Promise<string[]> => {
    const first = await harness.capture();
    // What changes just before a look counts as changed after it, and costs another look with git.
    harness.sh(`for i in ${names}; do echo two > $i/f.txt; done; sleep 0.2`);
    const now = await harness.capture(first);
    let calls: string[] = [];
    await applies(harness, first, {
      from: now,
      around: async (restore) => {
        let report: Awaited<ReturnType<typeof restore>> | undefined;
        calls = (
          await faults.record(async () => {
            report = await restore();
          })
        ).map(({ line }) => line);
        if (report === undefined) throw new Error('no report');
        return report;
      },
    });
    return calls;
  };
  await started('a b');
  expect(await started('a b')).toEqual([]);
  expect(await started('a b c d e')).toEqual([]);
});

test('few files with contents of every kind are exchanged byte by byte, and larger ones', async () => {
  await using harness = await withRepositories(['app']);
  const sizes = [0, 1, 262_000, 262_144, 300_000];
  const fill = (byte: string) =>
    [
      `printf 'deadbeef missing\\n%s\\0%s' ${byte} ${byte} > answer`,
      `printf '0123 blob 3\\n${byte}' > header`,
      `printf '${byte}\\n' > "$(printf 'in/od\\nd\\\\ name')"; printf '${byte}' > run; chmod 755 run`,
      `printf 'same in both' > in/$([ ${byte} = x ] && echo a || echo b)`,
      ...sizes.map((size) => `head -c ${size} /dev/zero | tr '\\0' ${byte} > size-${size}`),
    ].join('\n');
  harness.sh(`mkdir in; echo > in/a; echo > in/b; ${fill('x')}`, 'app');
  for (const names of [
    '.',
    'size-0 size-1',
    'size-262000',
    'size-262144',
    'size-300000',
    'answer header run in',
  ]) {
    const first = await harness.capture();
    const before = world(harness, ['app']);
    harness.sh(
      `mkdir .new; cp -a * .new; (cd .new; ${fill('y')}); for i in ${names}; do cp -a .new/$i .; done; rm -r .new`,
      'app',
    );
    expect(world(harness, ['app'])).not.toEqual(before);
    await applies(harness, first);
    expect(world(harness, ['app']), names).toEqual(before);
  }
});
