/** Other file systems mounted inside a repository, or below the projects root: what they hide, and what cannot be renamed. */
import { expect, test } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { rebuilds, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_ROOT } from '../support/needs-root.ts';

/** Everything mounted below the projects root is gone afterwards. */
const mounted = async (harness: Harness, work: () => Promise<void>) => {
  try {
    await work();
  } finally {
    harness.sh(`awk '{ print $2 }' /proc/mounts | grep "^$PWD/" | sort -r | xargs -r umount -l`);
  }
};

test.for([
  ['a directory', 'mount -t tmpfs tmpfs src; echo other > src/other', 'umount src'],
  ['a file', 'echo bound > ../bound; mount --bind ../bound a.txt', 'umount a.txt'],
] as const)(
  'what %s that is mounted no more had hidden is in the next capture',
  NEEDS_ROOT,
  async ([, mount, unmount]) => {
    await using harness = await withTwoFiles(['app']);
    await mounted(harness, async () => {
      await harness.capture();
      harness.sh(mount, 'app');
      await harness.capture();
      // What was just mounted is new to that one, and not to this.
      await harness.capture();
      harness.sh(`${unmount}; rm -f ../bound`, 'app');
      const looks = world(harness, ['app']);
      await rebuilds(harness, await harness.capture());
      expect(world(harness, ['app'])).toEqual(looks);
    });
  },
);
