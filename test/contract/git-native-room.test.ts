/** The native restore keeps room for its way back, and gives it up where it needs it. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';
import { besideRestores } from '../support/git-native-restore.ts';
import { withTwoFiles } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { FILLS, refusedWithoutRoom, returnsInKeptRoom } from '../support/restore-scenes.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-native-room');

beforeEach(() => {
  besideRestores.native = { compared: 0, left: [], isAlone: true };
});
afterEach(() => {
  expect(besideRestores.native?.left).toEqual([]);
  delete besideRestores.native;
});

test.for([{ kib: 100 }, { files: 20 }])(
  'a restore that could not be put back for lack of room is refused before it writes: %s',
  NEEDS_MOUNT,
  refusedWithoutRoom,
);

test.for(FILLS)(
  'where the disk has no more %s in the middle of a restore, everything is put back in the room that was kept',
  NEEDS_MOUNT,
  ([, fill]) => returnsInKeptRoom(fill),
);

test('what a killed restore kept is given up by the next one', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh('echo two > app/a.txt');
  const from = await harness.capture(first);
  const left = `${harness.root}/.agent-shadow/run-s1/killed`;
  mkdirSync(left, { recursive: true });
  writeFileSync(`${left}/room`, 'kept');
  const { report } = await harness.rollback(first, { from });
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(readdirSync(left)).toEqual([]);
});
