/** File systems that keep times in whole seconds, as ext4 with small inodes does: what is written in the second of a look is seen. */
import { expect, test } from 'vitest';
import { text, withTwoFiles } from '../support/git-repositories.ts';
import { NEEDS_ROOT } from '../support/needs-root.ts';
import { runSync } from '../support/run-sync.ts';

const NO_PLACE = 'NOT TESTED: no image can be mounted here (loop devices, mkfs.ext4)';

/** Two files with one commit, on such a file system. */
const onWholeSeconds = async () => {
  const harness = await withTwoFiles([]);
  const image = `${harness.top}/image`;
  const sh = (script: string) =>
    runSync('/bin/sh', ['-ec', script], {
      cwd: '/',
      env: { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` },
    });
  const { root } = harness;
  try {
    sh(`truncate -s 64M '${image}'; mkfs.ext4 -q -I 128 '${image}' 2>&1
      mount -o loop '${image}' '${root}'`);
  } catch {
    await harness[Symbol.asyncDispose]();
    return null;
  }
  harness.sh(
    'rm -r lost+found; mkdir app; cd app; git init -q -b main .; echo one > a; echo one > b; git add -A; git commit -qm one',
  );
  return {
    harness,
    [Symbol.asyncDispose]: async () => {
      sh(`umount '${root}'`);
      await harness[Symbol.asyncDispose]();
    },
  };
};

test.for<[string, string, string, string]>([
  ['what is staged', 'git reset -q; echo two > a; echo two > b; git add a', 'git add b', 'a b'],
  [
    'a rule that comes',
    'echo x.tmp > .gitignore; echo x > x.tmp; echo y > y.tmp',
    'echo y.tmp > .gitignore',
    'a b x.tmp',
  ],
  ['a file', 'echo 111 > a', 'echo 222 > a', 'a b'],
])(
  '%s in the second of a capture is in the next one',
  NEEDS_ROOT,
  async ([, before, after, names], context) => {
    await using place = await onWholeSeconds();
    if (place === null) return context.skip(NO_PLACE);
    const { harness } = place;
    const look = () =>
      harness.sh('git ls-files -s; git ls-files -co --exclude-standard -z | xargs -0 grep . | sort', 'app');
    await harness.capture();
    for (let tries = 1; ; tries += 1) {
      if (tries > 40) return context.skip('no capture begins and ends in one second here');
      harness.sh(before, 'app');
      const began = harness.sh('date +%s');
      await harness.capture();
      harness.sh(after, 'app');
      if (harness.sh('date +%s') === began) break;
    }
    const expected = look();
    const last = await harness.capture();
    await harness.rehydrate(last);
    expect(look()).toBe(expected);
    expect(harness.sh('echo *', 'app').trim()).toBe(names);
  },
);

test('an index that was written twice with one time is read twice', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    'echo two > a.txt; echo two > src/main.c; git add a.txt; git write-tree; touch -d "+1 hour" .git/index',
    'app',
  );
  await harness.capture();
  await harness.capture();
  harness.sh(
    'touch -r .git/index ../time; git add src/main.c; git write-tree; touch -r ../time .git/index; rm ../time',
    'app',
  );
  const last = await harness.capture();
  await harness.rehydrate(last);
  expect(text(harness, 'app/src/main.c')).toBe('two\n');
  expect(harness.sh('git diff --cached --name-only', 'app')).toBe('a.txt\nsrc/main.c\n');
});
