/** What a call needs beside the shadow is gone when the call is over: bundles that were sent, and whatever a failed call took. */
import { randomBytes } from 'node:crypto';
import { statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGitStage } from '../support/git-stage.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { harnessOn, smallDisk } from '../support/small-disk.ts';

const BEGIN =
  'for r in app web; do git init -q -b main $r; (cd $r; echo a > a; git add a; git commit -qm one); done';
/** Too large for the answer of a command, so it is read as a file. */
const CHANGE = 'head -c 300000 /dev/urandom > app/noise; head -c 200000 /dev/urandom > web/noise';

test('bundles that were read out do not stay in the projects root', async () => {
  await using stage = await createGitStage();
  const sandboxId = await stage.addSandbox();
  stage.sh(sandboxId, BEGIN);
  const first = await stage.start('s1', sandboxId);
  const kept = () => Number(stage.sh(sandboxId, 'du -sk .agent-shadow | cut -f1'));
  for (const id of ['m1', 'm2', 'm3']) {
    stage.sh(sandboxId, CHANGE);
    await stage.checkpoint('s1', id);
    expect(kept(), id).toBeLessThan(150);
  }
  stage.sh(sandboxId, CHANGE);
  await stage.rollback('s1', 'plan', first.checkpointId, { dryRun: true });
  expect(kept(), 'a plan').toBeLessThan(150);
  await stage.rollback('s1', 'back', first.checkpointId);
  expect(kept(), 'a rollback').toBeLessThan(150);
});

test('a capture that finds no room leaves the agent room to write', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  await using harness = await harnessOn(disk);
  harness.sh(BEGIN);
  const first = await harness.capture();
  for (const name of ['app', 'web']) writeFileSync(join(harness.root, name, 'large'), randomBytes(1_000_000));
  // There is room for the objects and the bundles of them, and not for the file with both bundles.
  disk.leave({ kib: 4600 });
  await expect(harness.capture()).rejects.toMatchObject({ name: 'SandboxUnavailable' });
  const { bavail, bsize } = statfsSync(disk.path);
  expect((bavail * bsize) / 1024).toBeGreaterThan(2000);
  disk.grow();
  harness.standOn(first);
  const { report } = await harness.capture();
  expect(report.failures).toEqual([]);
});
