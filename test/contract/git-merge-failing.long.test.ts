/** What goes wrong while states are composed, and what carries much. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHarness, type Harness, type HarnessOptions, type Snapshot } from '../support/git-harness.ts';

const BEGIN = `git init -q -b main r; cd r; seq 40 > lines; echo k > k; chmod 600 k; mkdir hollow; git add -A; git commit -qm one`;

/** Two sides with other work each. The sandbox stands at ours. */
const twoSides = async (
  options: HarnessOptions = {},
  theirWork = 'echo t > t',
): Promise<{ harness: Harness; base: Snapshot; theirs: Snapshot } & AsyncDisposable> => {
  const harness = await createHarness(options);
  harness.sh(BEGIN);
  const base = await harness.capture();
  harness.sh(`sed -i 40s/.*/theirs/ lines; chmod 640 k; ${theirWork}`, 'r');
  const theirs = await harness.capture();
  expect((await harness.rollback(base)).report.outcome).toBe('applied');
  harness.sh('sed -i 1s/.*/ours/ lines; mkdir hollow/ours', 'r');
  await harness.capture();
  return { harness, base, theirs, [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]() };
};

const arrives = async (harness: Harness, merged: Snapshot): Promise<void> => {
  const { report } = await harness.rollback(merged);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(harness.sh('sed -n "1p;40p" lines; stat -c %a k; ls hollow', 'r')).toBe('ours\ntheirs\n640\nours\n');
};

test('asks for objects that are torn, and takes them in again', async () => {
  await using at = await twoSides();
  const { harness, base, theirs } = at;
  const tear = `cd r/.agent-shadow/session-s1; for id in ${theirs.repositories[0]?.tree} $(git --git-dir=. rev-parse ${theirs.repositories[0]?.tree}:lines); do f=objects/\${id:0:2}/\${id:2}; chmod u+w $f; head -c 9 $f > x; cat x > $f; done; rm x`;
  harness.sh(tear);
  const { report } = await harness.compose([{ base, theirs }], { once: true });
  expect([report.missing, report.failures.length]).toEqual([['r'], 1]);
  harness.sh(tear.replaceAll('chmod u+w', '[ -f $f ] || continue; chmod u+w').replace('; rm x', ''));
  const { merged } = await harness.compose([{ base, theirs }]);
  await arrives(harness, merged);
});

test('says that the git of the sandbox is too old', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-old-git-'));
  const old = join(directory, 'git');
  writeFileSync(
    old,
    `#!/bin/sh\n[ "$1" != version ] || { echo git version 2.37.4; exit; }\nPATH=${process.env['PATH']} exec git "$@"\n`,
  );
  chmodSync(old, 0o755);
  try {
    await using at = await twoSides({ env: { PATH: `${directory}:${process.env['PATH']}` } });
    const { report } = await at.harness.compose([{ base: at.base, theirs: at.theirs }]);
    expect([report.unsupported, report.missing]).toEqual([['r'], []]);
    // What git need not merge comes all the same.
    const same = await at.harness.compose([{ base: at.base, theirs: at.base }]);
    expect(same.report.unsupported).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('works below a root with an odd name', async () => {
  await using at = await twoSides({ projects: 'a:b "c\n#d' });
  const { merged } = await at.harness.compose([{ base: at.base, theirs: at.theirs }]);
  await arrives(at.harness, merged);
});

test('reads nothing of ours behind a link', async () => {
  await using at = await twoSides();
  const { harness, base, theirs } = at;
  harness.sh('mv r/.agent-shadow ../away; ln -s ../../away r/.agent-shadow');
  const { report } = await harness.compose([{ base, theirs }], { once: true });
  expect(report.missing).toEqual(['r']);
  harness.sh('rm r/.agent-shadow; mv ../away r/.agent-shadow');
  await arrives(harness, (await harness.compose([{ base, theirs }])).merged);
});

test('brings larger bundles out in a file, and the largest to where the caller says', async () => {
  const random = 'head -c 300000 /dev/urandom > big';
  await using at = await twoSides({}, random);
  const { harness, base, theirs } = at;
  const sent = await harness.compose([{ base, theirs }], { maxInlineBytes: 1000 });
  expect(sent.report.bundles.map(({ bytes }) => bytes)).toEqual([undefined]);
  const { report, merged } = await harness.compose([{ base, theirs }]);
  expect(report.bundles[0]?.bytes?.length).toBeGreaterThan(300_000);
  await arrives(harness, merged);
});
