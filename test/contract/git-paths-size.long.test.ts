/**
 * Partial rollback and revert of 50,000 files: 25,000 in each of two repositories, changed, made and taken away on both sides. What
 * is asked for goes back byte for byte; later work and the other repository stay.
 */
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';

const DIRECTORIES = 50;
const IDENTITY = '-c user.name=A -c user.email=a@example.com';

test('50,000 files: some paths go back, and what one message did is taken back', {
  timeout: 1_200_000,
}, async () => {
  await using harness = await createHarness();
  const { sh } = harness;
  for (const name of ['app', 'web']) {
    sh(
      `git init -q -b main ${name}; cd ${name}; for d in {1..${DIRECTORIES}}; do mkdir d$d; (cd d$d; seq $d $((d + 499)) | split -l 1 -a 3 -d - f); done; git add -A; git ${IDENTITY} commit -qm one`,
    );
  }
  expect(sh('cat <(git -C app ls-files) <(git -C web ls-files) | wc -l').trim()).toBe('50000');
  const look = (where: string) =>
    sh(`cd ${where}; find d* -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; ls`);
  const goTo = async (checkpoint: Parameters<typeof harness.rollback>[0]) =>
    expect((await harness.rollback(checkpoint)).report.problems).toEqual([]);
  const was = look('app');
  const base = await harness.capture();

  // One message changes some of each directory, makes one and takes one away, in both repositories.
  for (const name of ['app', 'web']) {
    sh(
      `cd ${name}; for d in {1..25}; do echo message > d$d/f000; done; mkdir new; cp d1/* new; rm -r d${DIRECTORIES}`,
    );
  }
  const message = await harness.capture();
  // Later work, in other places.
  for (const name of ['app', 'web']) {
    sh(`cd ${name}; for d in {26..49}; do echo later > d$d/f499; done; rm -r d49/f0*; echo later > later`);
  }
  const later = await harness.capture();
  const web = look('web');
  const all = look('app');

  // A partial rollback of one repository: that one as it was, the other one as it is.
  const part = await harness.compose([{ base: later, theirs: base }], { paths: { app: 'whole' }, own: true });
  expect([part.report.conflicts, part.report.failures]).toEqual([[], []]);
  await goTo(part.merged);
  expect([look('app'), look('web')]).toEqual([was, web]);
  await goTo(later);
  expect([look('app'), look('web')]).toEqual([all, web]);

  // A revert of the message in both: the reverse merge, with what came later kept.
  const { report, merged } = await harness.compose([{ base: message, theirs: base }]);
  expect([report.conflicts, report.failures]).toEqual([[], []]);
  await goTo(merged);
  for (const name of ['app', 'web']) {
    expect(
      sh(
        `cd ${name}; cat d*/f* later | grep -c message || true; cat d*/f* | grep -c later; cat d1/f000; ls d${DIRECTORIES} | wc -l; ls d49 | wc -l; ls -d new 2>&1 || true`,
      ),
    ).toBe("0\n24\n1\n500\n400\nls: cannot access 'new': No such file or directory\n");
  }
  await goTo(later);
  expect([look('app'), look('web')]).toEqual([all, web]);
});
