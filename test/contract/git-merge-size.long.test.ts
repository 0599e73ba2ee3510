/** A merge of 50,000 files: both sides change some of them, one brings a directory, and one takes one away. */
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';

const DIRECTORIES = 100;

test('50,000 files are merged: what both sides did is there, and going back brings every byte', {
  timeout: 1_200_000,
}, async () => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main app; cd app; for d in {1..${DIRECTORIES}}; do mkdir d$d; (cd d$d; seq $d $((d + 499)) | split -l 1 -a 3 -d - f); done; git add -A; git commit -qm one`,
  );
  expect(harness.sh('git -C app ls-files | wc -l').trim()).toBe('50000');
  const look = () => harness.sh('cd app; find d* -type f -print0 | sort -z | xargs -0 cat | sha256sum; ls');
  const base = await harness.capture();
  harness.sh('cd app; for d in {1..50}; do echo theirs > d$d/f000; done; mkdir new; cp d1/* new; rm -r d100');
  const theirs = await harness.capture();
  expect((await harness.rollback(base)).report.problems).toEqual([]);
  harness.sh('cd app; for d in {51..99}; do echo ours > d$d/f499; done; rm -r d99/f0*');
  const ours = await harness.capture();
  const before = look();
  const { report, merged } = await harness.compose([{ base, theirs }]);
  expect([report.conflicts, report.failures]).toEqual([[], []]);
  expect((await harness.rollback(merged)).report.problems).toEqual([]);
  expect(
    harness.sh(
      'cd app; cat d*/f* | grep -c theirs; cat d*/f* | grep -c ours; ls new | wc -l; ls d99 | wc -l; ls -d d100 2>&1 || true',
    ),
  ).toBe("50\n49\n500\n400\nls: cannot access 'd100': No such file or directory\n");
  expect((await harness.rollback(ours)).report.problems).toEqual([]);
  expect(look()).toBe(before);
});
