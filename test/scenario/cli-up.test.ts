import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openCliScene } from '../support/cli.ts';
import { listenOnLoopback } from '../support/loopback.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/walkback.mjs');

const upSchema = z.object({
  dataDir: z.string(),
  pid: z.number(),
  endpoints: z.record(z.string(), z.string()),
  environment: z.record(z.string(), z.string()),
});

const answers = async (url: string): Promise<boolean> => {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
};

describe('walkback up', () => {
  test('prints where everything answers, and stops cleanly on SIGTERM', async () => {
    await using scene = await openCliScene();
    const { child, firstLine, ended } = await scene.start(['up', '--json']);
    const up = upSchema.parse(JSON.parse(firstLine));
    expect(up.dataDir).toBe(scene.dataDir);
    expect(up.environment).toMatchObject({
      AWS_ENDPOINT_URL_LAMBDA: up.endpoints['lambda'],
      AWS_REGION: expect.any(String),
      E2B_API_KEY: expect.any(String),
    });
    for (const url of Object.values(up.endpoints)) expect(await answers(url)).toBe(true);
    // The hooks of Claude Code are served beside the services.
    expect(await readFile(join(scene.dataDir, 'hooks.curl'), 'utf8')).toContain(
      `url = "${up.endpoints['e2b']}/hooks/claude-code"`,
    );
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    for (const url of Object.values(up.endpoints)) expect(await answers(url)).toBe(false);
    expect(existsSync(join(scene.dataDir, 'cloud.json'))).toBe(false);
  });

  test('deployed functions are used from macOS, too, and nothing is written there', async () => {
    await using scene = await openCliScene();
    const { firstLine } = await scene.start(['up', '--json']);
    const { environment } = upSchema.parse(JSON.parse(firstLine));
    const asMac = join(scene.work, 'mac.mjs');
    const values = { platform: 'darwin', arch: 'arm64' };
    const lines = Object.entries(values).map(
      ([name, value]) => `Object.defineProperty(process, '${name}', { value: '${value}' });`,
    );
    await writeFile(asMac, lines.join('\n'));
    const home = join(scene.work, 'home');
    // What the functions are reached by is the same as on AWS.
    const env = { ...environment, PATH: process.env['PATH'], HOME: home, NO_COLOR: '1' };
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, ['--import', asMac, LAUNCHER, ...args, '--aws'], { env });
    expect(JSON.parse((await run('session', 'list', '--json')).stdout)).toMatchObject({ sessions: [] });
    expect((await run('saga', 'list')).stdout).toBe('No sagas.\n');
    expect((await run('catalog', 'list')).stdout).toContain('begin_work');
    expect(existsSync(home)).toBe(false);
  });

  test('refuses a port that is taken, by its number', async () => {
    await using scene = await openCliScene();
    const taken = createServer();
    const port = await listenOnLoopback(taken);
    const { code, stdout, stderr } = await scene.run(['up', '--port', String(port)]);
    taken.close();
    expect(code).toBe(7);
    expect(stdout).toBe('');
    expect(stderr).toContain(`port ${port}`);
    expect(stderr).toContain('--port');
  });

  test('refuses a data directory that another one works in, and names it', async () => {
    await using scene = await openCliScene();
    const { firstLine } = await scene.start(['up', '--json']);
    const { pid } = upSchema.parse(JSON.parse(firstLine));
    const { code, stderr } = await scene.run(['up', '--json']);
    expect(code).toBe(7);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { name: 'ConfigurationError', message: expect.stringContaining(String(pid)) },
    });
  });
});
