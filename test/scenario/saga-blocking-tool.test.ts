/** A tool that blocks its thread: sagas that do not call it go on meanwhile, on the embedded cloud, and no other tool waits for it. */
import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { ownDirectory } from '../support/own-functions.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

const DONE = `({ outcome: 'committed', result: {} })`;
/** It lets nothing else happen in its thread until there is a file `gate`, and says how often it began. */
const BLOCKING = `
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export const timeoutSeconds = 304;
export const handler = ({ sagaId }) => {
  writeFileSync(join(import.meta.dirname, 'began-' + sagaId), '');
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(join(import.meta.dirname, 'gate'))) Atomics.wait(cell, 0, 0, 5);
  return ${DONE};
};`;
const QUICK = `export const timeoutSeconds = 9; export const handler = () => ${DONE};`;

const scene = async () => {
  const directory = await ownDirectory({ 'blocks.mjs': BLOCKING, 'quick.mjs': QUICK });
  const cloud = await startTestCloud({ functions: [directory.path] });
  const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
  const tools = [
    scriptedTool('blocks', 'irreversible', { functionName: 'blocks', timeoutSeconds: 300, retry: ONCE }),
    scriptedTool('quick', 'irreversible', { functionName: 'quick', timeoutSeconds: 5, retry: ONCE }),
  ];
  await cloud.invoke('put-catalog', { tools, definitions: [] });
  return {
    directory,
    start: (sagaId: string, tool: string) =>
      cloud.invoke('start-saga', {
        sagaId,
        plan: { steps: [{ id: 's', tool, arguments: {} }] },
        input: {},
        requestedBy: 'me',
      }),
    sagaStatus: async (sagaId: string, waitSeconds = 0) =>
      (await cloud.invoke('describe-saga', { sagaId, waitSeconds }))['status'],
    /** What became of the calls of its step. */
    storyOf: async (sagaId: string): Promise<string[]> => {
      const { entries } = (await cloud.invoke('query-ledger', { sagaId, limit: 100 })) as {
        entries: { direction: string; status: string; error: string | null }[];
      };
      return entries
        .filter(({ direction }) => direction === 'forward')
        .map(({ status, error }) => (error === null ? status : `${status} ${error.split(':')[0]}`));
    },
    [Symbol.asyncDispose]: async () => {
      await cloud.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};

test('a saga ends while the tool of another one in its directory blocks, at its first attempt and in its time', async () => {
  await using own = await scene();
  await own.start('blocks', 'blocks');
  await own.directory.made('began-blocks');
  await own.start('quick', 'quick');
  expect(await own.sagaStatus('quick', 200)).toBe('COMPLETED');
  expect(await own.storyOf('quick')).toEqual(['started', 'committed']);
  expect(await own.sagaStatus('blocks')).toBe('RUNNING');
  await own.directory.write('gate');
  expect(await own.sagaStatus('blocks', 200)).toBe('COMPLETED');
});

test('a call for which there is no thread costs its saga no attempt', async () => {
  await using own = await scene();
  const first = Array.from({ length: 9 }, (_, n) => `blocks-${n}`);
  for (const saga of first) await own.start(saga, 'blocks');
  await Promise.all(first.map((saga) => own.directory.made(`began-${saga}`)));
  await own.start('late', 'blocks');
  const refused = 'rejected Lambda.TooManyRequestsException';
  await expect.poll(() => own.storyOf('late'), { timeout: 120_000 }).toContain(refused);
  expect(own.directory.has('began-late')).toBe(false);
  await own.directory.write('gate');
  for (const saga of [...first, 'late']) expect(await own.sagaStatus(saga, 200)).toBe('COMPLETED');
  const [attempt, ...others] = (await own.storyOf('late'))
    .filter((status) => status !== 'started')
    .toReversed();
  expect(attempt).toBe('committed');
  expect(new Set(others)).toEqual(new Set([refused]));
});
