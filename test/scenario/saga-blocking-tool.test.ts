/** A tool that blocks its thread: sagas that do not call it go on meanwhile, on the embedded cloud. */
import { existsSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

const DONE = `({ outcome: 'committed', result: {} })`;
/** It lets nothing else happen in its thread until the file is there. */
const blocking = (began: string, gate: string): string => `
import { existsSync, writeFileSync } from 'node:fs';
export const timeoutSeconds = 304;
export const handler = () => {
  writeFileSync(${JSON.stringify(began)}, '');
  while (!existsSync(${JSON.stringify(gate)}));
  return ${DONE};
};`;

test('a saga ends while the tool of another one blocks, and that one ends when it is through', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-blocks-'));
  const file = (name: string): string => join(directory.path, name);
  const [began, gate] = [file('began'), file('gate')];
  await writeFile(file('blocks.mjs'), blocking(began, gate));
  await writeFile(file('quick.mjs'), `export const handler = () => ${DONE};`);
  const functions = ['blocks.mjs', 'quick.mjs'].map(file);
  await using cloud = await startTestCloud({ functions });
  const tools = ['blocks', 'quick'].map((name) =>
    scriptedTool(name, 'irreversible', { functionName: name, timeoutSeconds: 300 }),
  );
  await cloud.invoke('put-catalog', { tools, definitions: [] });
  const start = (tool: string) =>
    cloud.invoke('start-saga', {
      sagaId: `saga-${tool}`,
      plan: { steps: [{ id: 's', tool, arguments: {} }] },
      input: {},
      requestedBy: 'me',
    });
  const statusOf = async (tool: string, waitSeconds = 0) =>
    (await cloud.invoke('describe-saga', { sagaId: `saga-${tool}`, waitSeconds }))['status'];

  await start('blocks');
  await expect.poll(() => existsSync(began), { timeout: 120_000 }).toBe(true);
  await start('quick');
  expect(await statusOf('quick', 200)).toBe('COMPLETED');
  expect(await statusOf('blocks')).toBe('RUNNING');
  await writeFile(gate, '');
  expect(await statusOf('blocks', 200)).toBe('COMPLETED');
});
