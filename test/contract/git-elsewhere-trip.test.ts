/** All that a session does, in sandboxes with nothing but busybox and git: no bash, no program of GNU, no perl, no curl. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import { commandPath } from '../support/command-path.ts';
import { busyboxRoot } from '../support/git-elsewhere.ts';
import { TWO_FILES } from '../support/git-repositories.ts';
import { createGitStage } from '../support/git-stage.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { startWriter } from '../support/racing-writer.ts';
import { fingerprint } from '../support/world.ts';

const busybox = commandPath('busybox') ?? '';

/** With `carriedBytes`, the files of noise are too large to be carried in memory. */
const CARRIED = 64 * 1024;
const MAKE = `for name in app lib; do mkdir $name; (cd $name; ${TWO_FILES}; mkdir empty; head -c 300000 /dev/urandom > noise); done
echo begin > app/log; echo loose > notes`;
const WORK = `cd app; echo two > a.txt; rm -r src; ln -s a.txt link; chmod +x a.txt; git checkout -qb topic; git add -A
git commit -qm two; head -c 400000 /dev/urandom > noise; echo staged > staged; git add staged; echo more > ../notes`;

test.skipIf(busybox === '' || NEEDS_MOUNT.skip)(
  'a session goes its whole way in sandboxes with nothing but busybox and git, with bundles that no call can hold',
  async () => {
    await using stage = await createGitStage({
      bundles: { ...BUNDLE_LIMITS, carriedBytes: CARRIED },
      elsewhere: () => busyboxRoot(busybox),
    });
    const sandboxId = await stage.addSandbox();
    const root = stage.rootOf(sandboxId);
    for (const program of ['bash', 'curl', 'perl'])
      for (const bin of ['bin', 'usr/bin']) expect(existsSync(join(root, '..', bin, program))).toBe(false);
    const looks = (of = root): string[] => fingerprint(of, ['app', 'lib']);
    stage.sh(sandboxId, MAKE);
    const first = await stage.start('s1', sandboxId, { looseFiles: true });
    const before = looks();
    stage.sh(sandboxId, WORK);
    const second = await stage.checkpoint('s1', 't1');
    const after = looks();
    expect([first.complete, second.complete]).toEqual([true, true]);

    const back = await stage.rollback('s1', 'r1', first.checkpointId);
    expect(back.status).toBe('APPLIED');
    expect(looks()).toEqual(before);
    await stage.rollback('s1', 'r2', back.undoCheckpointId ?? '');
    expect(looks()).toEqual(after);
    // Nothing of the shadows is left: all bundles are brought in.
    stage.sh(sandboxId, 'rm -rf .agent-shadow */.agent-shadow');
    await stage.rollback('s1', 'r3', first.checkpointId);
    expect(looks()).toEqual(before);

    const blamed = await stage.blame('s1', 'app/a.txt', { at: second.checkpointId });
    expect(blamed.lines.map(({ text }) => text)).toEqual(['two']);
    const compared = await stage.diff('s1', first.checkpointId, second.checkpointId);
    expect(compared.repositories.map(({ path }) => path)).toEqual(['.', 'app', 'lib']);

    const fresh = await stage.rehydrate('s1', second.checkpointId);
    expect(looks(stage.rootOf(fresh.sandboxId))).toEqual(after);

    const fork = await stage.fork('s1', 'f1', { checkpointId: first.checkpointId });
    stage.sh(fork.sandboxId, 'head -c 350000 /dev/urandom > lib/other; git -C lib add other; echo f > lib/f');
    await stage.checkpoint(fork.sessionId, 't2');
    stage.sh(sandboxId, 'echo three > app/a.txt');
    await stage.checkpoint('s1', 't3');
    expect((await stage.merge(fork.sessionId, 's1', 'm1')).status).toBe('APPLIED');
    expect(readFileSync(join(root, 'lib/f'), 'utf8')).toBe('f\n');
    expect(readFileSync(join(root, 'app/a.txt'), 'utf8')).toBe('three\n');

    stage.sh(sandboxId, 'echo more >> app/log');
    await stage.checkpoint('s1', 't4');
    const writer = startWriter([join(root, 'app/log')], Math.random, { manners: ['hold'], pause: 2 });
    try {
      const late = await stage.rollback('s1', 'r4', first.checkpointId);
      expect(late.lateWrites?.files).toEqual(['app/log']);
    } finally {
      await writer.stop();
    }
  },
);
