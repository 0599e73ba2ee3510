/** How far a long first capture is, asked while it runs, on the real functions, tables and program. */
import { truncateSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { createRepositories, rootOf, SANDBOX_ROOT, sdkOf } from '../support/world.ts';

const slow = inTurn('capture-progress');

const cloud = shared(startTestCloud);

test('of a session that nobody knows, there is nothing to tell', async () => {
  expect(await cloud().invoke('progress', { sessionId: 'nobody' })).toEqual({ progress: null });
});

const FILES = 16;
/** Nothing of it is on the disk, but all of it is read. */
const FILE_BYTES = 64 * 1024 ** 2;

slow('a baseline of large files tells how many are read, before there is a session', async () => {
  const { sandboxId } = await sdkOf(cloud()).create({ timeoutMs: 3_600_000 });
  const root = rootOf(cloud(), sandboxId);
  await mkdir(root, { recursive: true });
  createRepositories(root, ['api']);
  for (let each = 0; each < FILES; each += 1) {
    await mkdir(join(root, `api/${each}`));
    const file = join(root, `api/${each}/large.bin`);
    writeFileSync(file, `${each}\n`);
    truncateSync(file, FILE_BYTES);
  }
  const over = new AbortController();
  const starting = cloud()
    .invoke('start-session', {
      sessionId: 'long',
      sandboxId,
      projectsRoot: SANDBOX_ROOT,
      maxFileBytes: FILE_BYTES,
    })
    .finally(() => over.abort());
  const told: { doing: string; done: number; of?: number }[] = [];
  const listen = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { progress } = await cloud().invoke('progress', { sessionId: 'long' });
      if (progress !== null) told.push(progress as (typeof told)[number]);
      await sleep(100);
    }
  };
  const [answer] = await Promise.all([starting, listen()]);
  expect(answer).toMatchObject({ sessionId: 'long', complete: true });
  const files = told.filter(({ doing }) => doing === 'files');
  expect(files.length).toBeGreaterThan(0);
  for (const { done, of } of files) {
    expect(of).toBeGreaterThanOrEqual(FILES);
    expect(done).toBeLessThanOrEqual(of ?? 0);
    expect(done).toBeGreaterThan(0);
  }
});
