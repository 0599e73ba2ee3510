import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('cli-alone');

// Every command is a process of its own, on a machine that may be busy.
describe('walkback on the directory of a newcomer', () => {
  test('works without walkback up, one command after the other or two at once, and keeps everything in between', async () => {
    await using scene = await openCliScene();
    const { work, json } = scene;
    await createWork(work);
    const started = await json(['session', 'start', '--root', work]);
    const sessionId = String(started['sessionId']);
    expect(sessionId).toMatch(/^work-[0-9a-f]{8}$/);
    await writeFile(join(work, 'api/a.txt'), 'two\n');
    // Each needs a cloud of its own: they wait for each other.
    const both = await Promise.all(
      ['msg-1', 'msg-2'].map((message) => json(['checkpoint', '--message', message])),
    );
    expect(both.map(({ seq }) => Number(seq)).sort((a, b) => a - b)).toEqual([2, 3]);

    const copy = await json(['rehydrate', '--to', 'msg-1']);
    const directory = String(copy['directory']);
    expect(directory.startsWith(scene.dataDir)).toBe(true);
    expect(await readFile(join(directory, 'api/a.txt'), 'utf8')).toBe('two\n');

    await json(['session', 'end', sessionId]);
    expect((await json(['session', 'list', '--all']))['sessions']).toMatchObject([{ sessionId }]);
    expect(await readFile(join(work, 'api/a.txt'), 'utf8')).toBe('two\n');
  });

  test('works where Node is told to use a proxy that does not know this machine', async () => {
    const proxy = 'http://127.0.0.1:9';
    await using scene = await openCliScene({
      NODE_USE_ENV_PROXY: '1',
      http_proxy: proxy,
      HTTPS_PROXY: proxy,
    });
    const { work, json } = scene;
    await createWork(work);
    await json(['session', 'start', '--root', work, '--id', 'proxied']);
    await writeFile(join(work, 'api/a.txt'), 'two\n');
    expect(await json(['checkpoint', '--message', 'msg-1'])).toMatchObject({ seq: 2, complete: true });
  });
});
