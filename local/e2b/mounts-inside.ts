import { relative, sep } from 'node:path';
import { isInside, realOrSame } from './paths.ts';
import type { Mount } from './rootfs.ts';

/**
 * Finds the sandboxes below `dataDir` whose files include the mounted directory of another sandbox, with the
 * ids of these others.
 */
export const mountsInside = async (
  dataDir: string,
  sandboxes: readonly { id: string; record: { mounts: readonly Mount[] } }[],
): Promise<Map<string, string[]>> => {
  const inside = new Map<string, string[]>();
  for (const { id, record } of sandboxes) {
    for (const { directory } of record.mounts) {
      const real = await realOrSame(directory);
      if (!isInside(real, dataDir) || real === dataDir) continue;
      const [holder = ''] = relative(dataDir, real).split(sep);
      const known = inside.get(holder) ?? [];
      if (holder !== id && !known.includes(id)) inside.set(holder, [...known, id]);
    }
  }
  return inside;
};
