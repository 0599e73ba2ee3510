/** The sandboxes of the embedded cloud at the moment at which the time of one is over. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openRegistry } from '../../local/e2b/registry.ts';

const MADE = { templateId: 'base', metadata: {}, envs: {}, onTimeout: 'kill' } as const;

test.each([
  ['connect', 'alone'],
  ['setTimeout', 'alone'],
  ['connect', 'with a directory of another'],
  ['setTimeout', 'with a directory of another'],
] as const)(
  'one that is given more time by %s while it is looked at who works on its files goes on, %s',
  async (how, mounted) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-registry-'));
    const own = join(directory.path, 'own');
    await mkdir(own);
    const mounts = [{ path: '/work', directory: own }];
    for (const turns of [1, 2, 4, 6, 8, 12]) {
      const dataDir = join(directory.path, String(turns));
      const registry = await openRegistry(dataDir);
      // Where the directories of these really are is looked at first.
      for (let count = 0; count < 5; count += 1) await registry.create({ ...MADE, mounts });
      const made = { ...MADE, mounts: mounted === 'alone' ? [] : mounts, timeoutMs: 20 };
      const { id, record } = await registry.create(made);
      while (Date.now() <= (record.endAtMs ?? 0)) await delay(1);
      for (let count = 0; count < turns; count += 1) await turn();
      const answer = await registry[how](id, 60_000);
      await registry.mountedBy();
      await registry.mountedBy();
      await registry.close();
      expect(existsSync(join(dataDir, id)), `after ${turns} turns: ${answer}`).toBe(Boolean(answer));
    }
  },
);
