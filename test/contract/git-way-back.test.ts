/** The way back of a restore that failed: it brings exactly what was there first, beside what other processes did meanwhile. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { files, gitState } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { afterPlacing } from '../support/placing.ts';
import { tracedProgram, whyUntraced } from '../support/traced-program.ts';

const INIT =
  'git init -q -b main . && mkdir -p src far && for n in a b c d; do echo $n > src/$n; done && echo f > far/f && echo p > private && chmod 600 private && git add -A && git commit -qm one';
/** A branch goes on the way to the first state: git moves it after the new files have their names. */
const CHANGE =
  'for n in a b c d; do echo two > src/$n; done; mkdir -p gone void; echo new > gone/new; git branch since';

/** The same, and then git says that it failed. */
const failingAfter = (script: string) => afterPlacing(`${script}\nexit 128`);

test('what another process made stays, and is named, when something else than the proof fails', async () => {
  using others = failingAfter(
    'mkdir -p gone/deep mine/own; chmod 711 far; chmod 600 far/f; chmod +x src/a; chmod 644 private; echo mine > src/mine; echo mine > src/b',
  );
  await using harness = await createHarness({ env: others.env });
  await mkdir(join(harness.root, 'app'));
  harness.sh(INIT, 'app');
  const before = await harness.capture();
  harness.sh(CHANGE, 'app');
  const looks = files(join(harness.root, 'app'));
  const state = gitState(harness.root);

  others.arm();
  const { report } = await harness.rollback(before);
  expect([report.outcome, others.isArmed()]).toEqual(['reverted', false]);
  const told = report.problems.map(({ message }) => message);
  expect(told).toContain('kept, because it appeared meanwhile: gone/deep mine/own src/b src/mine');
  expect(told).toContain('got back the mode that it had, which was changed meanwhile: private src/a');
  expect(gitState(harness.root)).toEqual(state);
  expect(harness.sh('cat src/b src/mine; rm src/mine; echo two > src/b', 'app')).toBe('mine\nmine\n');
  expect(
    harness.sh('stat -c %a far far/f; rmdir gone/deep mine/own mine; chmod 755 far; chmod 644 far/f', 'app'),
  ).toBe('711\n600\n');
  expect(files(join(harness.root, 'app'))).toEqual(looks);
});

test('a repository that came, and goes again, leaves the directories of another process', async () => {
  using others = failingAfter('mkdir -p mine');
  await using harness = await createHarness({ env: others.env });
  harness.sh(
    `mkdir -p app in/comes; cd app; ${INIT}; cd ../in/comes; ${INIT}; git branch since; mkdir hollow`,
  );
  const before = await harness.capture();
  harness.sh('rm -rf in/comes');
  others.arm();
  const { report } = await harness.rollback(before);
  expect([report.outcome, others.isArmed()]).toEqual(['reverted', false]);
  expect(harness.sh('find in')).toBe('in\nin/comes\nin/comes/mine\n');
});

test('a rollback that goes on after it was killed, and fails then, puts back what was there first', async ({
  skip,
}) => {
  const why = whyUntraced();
  if (why !== undefined) skip(why);
  using traced = tracedProgram();
  using others = failingAfter(':');
  await using harness = await createHarness({ env: others.env, prefix: traced.prefix });
  await mkdir(join(harness.root, 'app'));
  harness.sh(INIT, 'app');
  const first = await harness.capture();
  harness.sh(CHANGE, 'app');
  const looks = files(join(harness.root, 'app'));
  const state = gitState(harness.root);
  const undo = await harness.capture(first);
  const planned = {
    about: 'app/src/c',
    kinds: ['renames'],
    at: 2,
    does: { kind: 'kill', when: 'after' },
  } as const;
  const { told } = await traced.during(harness.root, planned, () =>
    harness.rollback(first, { from: undo }).catch(() => undefined),
  );
  expect(told.flatMap(({ done }) => done).join()).toContain('Kill');
  const mixed = files(join(harness.root, 'app'));
  expect(mixed).not.toEqual(looks);

  const from = await harness.capture(first);
  others.arm();
  const { report } = await harness.rollback(first, { from, undo });
  expect([report.outcome, others.isArmed()]).toEqual(['reverted', false]);
  expect(report.problems.map(({ message }) => message).join()).not.toContain('appeared meanwhile');
  expect(files(join(harness.root, 'app'))).toEqual(looks);
  expect(gitState(harness.root)).toEqual(state);
});
