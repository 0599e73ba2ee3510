/** Deadlines of a step's own on the embedded cloud: in functions of one's own, and over HTTP. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../kit/define-tool.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { serveHttpTools } from '../support/http-tools.ts';
import { type OwnDirectory, ownDirectory } from '../support/own-functions.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

/** Refuses what would need more time than it has left. Takes none, so that a busy machine changes nothing. */
const SLOW = `
export const timeoutSeconds = 14;
export const handler = async ({ deadlineMs, arguments: { ms } }) => {
  const leftMs = deadlineMs - Date.now();
  if (ms < leftMs) return { outcome: 'committed', result: { leftMs } };
  return { outcome: 'rejected', retryable: false, error: { name: 'TooShort', message: String(leftMs) } };
};`;

/** Over HTTP: takes its time, and stops when its signal aborts. */
const nap = defineTool({
  name: 'nap',
  version: '1',
  description: 'Sleeps',
  effect: 'irreversible',
  timeoutSeconds: 2,
  retry: { maxAttempts: 1 },
  input: z.strictObject({ ms: z.int() }),
  output: z.object({ slept: z.boolean() }),
  execute: async ({ ms }, { signal }) => {
    await new Promise<void>((done, fail) => {
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        fail(new Error('aborted'));
      });
    });
    return { slept: true };
  },
});

const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };

let cloud: TestCloud;
let directory: OwnDirectory;
let served: Awaited<ReturnType<typeof serveHttpTools>>;

beforeAll(async () => {
  directory = await ownDirectory({ 'slow.mjs': SLOW });
  cloud = await startTestCloud({ functions: [directory.path] });
  const slow = scriptedTool('slow', 'irreversible', {
    functionName: 'slow',
    timeoutSeconds: 10,
    retry: ONCE,
  });
  await cloud.invoke('put-catalog', { tools: [slow], definitions: [] });
  served = await serveHttpTools(cloud, [nap]);
});
afterAll(async () => {
  served.close();
  await cloud.close();
  await directory[Symbol.asyncDispose]();
});

const run = async (sagaId: string, tool: string, ms: number, own: object, drive: 'machine' | 'inline') => {
  const plan = { steps: [{ id: 's', tool, arguments: { ms }, ...own }] };
  await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'me', drive });
  return cloud.invoke('describe-saga', { sagaId, waitSeconds: 60 });
};

test.each(['machine', 'inline'] as const)(
  'a tool in a function is given what the step says, by the %s driver',
  async (drive) => {
    expect(await run(`default-${drive}`, 'slow', 20_000, {}, drive)).toMatchObject({
      failed: { error: { name: 'TooShort' } },
    });
    expect(await run(`longer-${drive}`, 'slow', 20_000, { timeoutSeconds: 50 }, drive)).toMatchObject({
      status: 'COMPLETED',
    });
  },
);

test('a tool over HTTP that takes longer than its step allows is ended by then, and one with more time outlives its own deadline', async () => {
  const longer = await run('nap-longer', 'nap', 3000, { timeoutSeconds: 30 }, 'machine');
  expect(longer).toMatchObject({ status: 'COMPLETED' });
  const began = Date.now();
  const shorter = await run('nap-shorter', 'nap', 60_000, { timeoutSeconds: 1 }, 'machine');
  expect(shorter).toMatchObject({ status: 'COMPENSATION_FAILED', notCompensated: [{ step: 's' }] });
  expect(Date.now() - began).toBeLessThan(30_000);
});

test('a submitted step and a single call have theirs', async () => {
  const called = (requestId: string, own: object) =>
    cloud.invoke('call-tool', {
      requestId,
      tool: 'slow',
      arguments: { ms: 20_000 },
      allowIrreversible: true,
      requestedBy: 'me',
      ...own,
    });
  expect(await called('short', {})).toMatchObject({ step: { status: 'rejected' } });
  expect(await called('long', { timeoutSeconds: 50 })).toMatchObject({ step: { status: 'committed' } });
  await expect(called('long', { timeoutSeconds: 40 })).rejects.toThrow(/RequestConflict|another deadline/);
});
