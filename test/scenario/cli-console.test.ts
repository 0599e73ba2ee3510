/** The console as a person starts and ends it: an interrupt is its end, and no error. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { shared } from '../support/shared.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/walkback.mjs');

const cloud = shared(startTestCloud);

const startConsole = (...args: string[]) => {
  const child = spawn(process.execPath, [LAUNCHER, 'console', ...args], {
    env: { ...cloud().environment, PATH: process.env['PATH'], HOME: cloud().dataDir, USER: 'ada' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const said = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const stderr = text(child.stderr);
  return {
    child,
    lines,
    link: async (): Promise<string> => {
      const [line]: unknown[] = await once(said, 'line');
      return /http:\S+token=[\w-]+/.exec(String(line))?.[0] ?? '';
    },
    ended: async () => {
      const [code, signal]: unknown[] = await once(child, 'close');
      return { code, signal, stderr: await stderr };
    },
  };
};

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  test.each([[[]], [['--json']]])('ends it, with %j', async (args) => {
    const console = startConsole(...args);
    const link = await console.link();
    const entered = await fetch(link, { redirect: 'manual' });
    expect(entered.status).toBe(302);
    const ended = console.ended();
    console.child.kill(signal);
    const { stderr, ...how } = await ended;
    expect(how).toEqual({ code: 0, signal: null });
    expect(stderr).not.toMatch(/Interrupted|error/i);
    const said = console.lines.slice(1).join('\n');
    expect(said).toContain(args.length === 0 ? 'The console ended.' : '"ended": true');
    await expect(fetch(link)).rejects.toThrow();
  });
});

test('one that cannot listen says so, and ends with an error', async () => {
  const first = startConsole();
  const { port } = new URL(await first.link());
  const second = await startConsole('--port', port).ended();
  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain(port);
  const ended = first.ended();
  first.child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0 });
});
