/** Locks and limits on the embedded cloud: the real machine, the real tables, the real command. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LocksAnswer } from '../../contract/saga-lists.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { exclusiveTool, workOn } from '../support/exclusive-tool.ts';
import { serveHttpTools } from '../support/http-tools.ts';
import { commandOn } from '../support/tampering.ts';

/** What the provider saw, in order. */
const seen: { sagaId: string; token: number | undefined }[] = [];

const disposal = new AsyncDisposableStack();
let cloud: TestCloud;
beforeAll(async () => {
  cloud = disposal.use(await startTestCloud());
  const work = exclusiveTool(({ sagaId, fencingToken: token }) => seen.push({ sagaId, token }));
  const served = await serveHttpTools(cloud, [work]);
  disposal.defer(() => void served.close());
});
afterAll(() => disposal.disposeAsync());

const start = (sagaId: string, more: object = {}, approval = false) =>
  cloud.invoke('start-saga', { ...workOn(sagaId, 'customer:ada', { approval }), ...more });
const observe = async (sagaId: string, waitSeconds = 60) =>
  (await cloud.invoke('describe-saga', { sagaId, waitSeconds })) as unknown as Observation;
const approve = (sagaId: string) =>
  cloud.invoke('answer', { sagaId, stepId: 's0', decision: 'approve', by: 'ada' });

test('a saga that finds its resource taken is woken when the other has ended, with a higher token', async () => {
  await start('holder', {}, true);
  expect((await observe('holder')).status).toBe('AWAITING');
  await start('next');
  // It stands in line.
  await expect
    .poll(async () => (await observe('next', 0)).doing, { timeout: 60_000 })
    .toMatchObject({ what: 'waiting', reason: 'until saga holder has ended: it works on customer:ada' });
  const { locks } = (await cloud.invoke('list-locks', { sagaId: 'holder' })) as unknown as LocksAnswer;
  expect(locks).toMatchObject([{ resourceKey: 'customer:ada', waiting: ['next'] }]);
  await approve('holder');
  expect((await observe('next')).status).toBe('COMPLETED');
  expect(seen.slice(-2)).toEqual([
    { sagaId: 'holder', token: 1 },
    { sagaId: 'next', token: 2 },
  ]);
  expect((await cloud.invoke('list-locks', { sagaId: 'next' }))['locks']).toEqual([]);
});

test('a saga that finds its project full is queued, and begins when there is room', async () => {
  const limited = { project: 'shop', maxConcurrent: 1 };
  const plan = { steps: [{ id: 's0', tool: 'work', arguments: { key: 'b' } }] };
  const statuses: unknown[] = [];
  for (const sagaId of ['q1', 'q2', 'q3']) {
    statuses.push(
      (await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'me', ...limited }))[
        'status'
      ],
    );
  }
  expect(statuses[0]).toBe('RUNNING');
  for (const sagaId of ['q1', 'q2', 'q3']) expect((await observe(sagaId)).status).toBe('COMPLETED');
  expect(seen.slice(-3).map(({ sagaId }) => sagaId)).toEqual(['q1', 'q2', 'q3']);
});

test('an operator breaks the lock of a saga that nobody answers', async () => {
  await start('stuck', {}, true);
  expect((await observe('stuck')).status).toBe('AWAITING');
  await start('after');
  await expect.poll(async () => (await observe('after', 0)).doing?.what, { timeout: 60_000 }).toBe('waiting');
  const command = commandOn(cloud);
  const listed = await command.run(['locks', 'list']);
  expect(listed.stdout).toMatch(/customer:ada +stuck +AWAITING .*after/);
  expect((await command.run(['saga', 'queue'])).stdout).toMatch(/after +customer:ada +stuck/);
  const breakLock = () =>
    command.run(['locks', 'break', 'stuck', 'customer:ada', '--reason', 'nobody answers', '--by', 'ops']);
  const told = await breakLock();
  expect(told.stdout).toContain('no longer holds customer:ada');
  const again = await breakLock();
  expect(again.failure?.name).toBe('OperationRefused');
  const queue = await command.run(['saga', 'queue', '--json']);
  expect(JSON.parse(queue.stdout)).toEqual({ sagas: [] });
  command.close();
  expect((await observe('after')).status).toBe('COMPLETED');
  await cloud.invoke('operate-saga', { sagaId: 'stuck', action: 'cancel', by: 'ops' });
  expect((await observe('stuck')).status).toBe('COMPENSATED');
});
