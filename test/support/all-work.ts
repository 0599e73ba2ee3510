/** Makes every function of an embedded cloud do all that it can be asked for: sessions, sagas, locks, people, the ledger. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { refundDefinitions } from '../../examples/refund/catalog.ts';
import { hiddenIn, signInWithBrowser } from './browser-person.ts';
import { addOrder, quickCatalog, type SagaCloud } from './saga-cloud.ts';
import { issuerIn, tokenFrom } from './sign-in.ts';
import { expire } from './stored-objects.ts';
import { createRepositories, edit, openWorld, rootOf, shell } from './world.ts';

/** What people do over HTTP: a call of the API, and a page. */
export const workPeople = async ({ cloud }: Pick<SagaCloud, 'cloud'>): Promise<void> => {
  const at = cloud.endpoints.api;
  const token = await tokenFrom(issuerIn(cloud), 'rita', ['reviewer']);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const listed = await fetch(`${at}/v1/list-sessions`, { method: 'POST', headers, body: '{}' });
  expect(listed.status).toBe(200);
  const { person } = await signInWithBrowser(cloud);
  const page = await person.get(`${at}/sagas`);
  expect(page.status).toBe(200);
  const [, form = ''] = /<form[^>]*action="\/auth\/sign-out">(.*?)<\/form>/s.exec(page.text) ?? [];
  expect((await person.post(`${at}/auth/sign-out`, hiddenIn(form))).status).toBe(303);
  expect((await person.get(`${at}/auth/signed-out`)).status).toBe(200);
};

export const workSessions = async ({ cloud, server }: SagaCloud): Promise<void> => {
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const loseShadows = () =>
    Promise.all(
      world.paths.map((path) =>
        rm(join(world.root, path, '.agent-shadow'), { recursive: true, force: true }),
      ),
    );
  edit(world.root, 1, world.paths);
  const first = await world.checkpoint('first');
  edit(world.root, 2, world.paths);
  await world.checkpoint('second');
  await loseShadows();
  edit(world.root, 3, world.paths);
  for (const [sagaId, name] of [
    ['late', 'refund'],
    ['late-waits', 'refund-approved'],
  ] as const) {
    addOrder(server, sagaId);
    await cloud.invoke('start-saga', {
      sagaId,
      definition: { name },
      input: { orderId: sagaId },
      sessionId: world.sessionId,
      messageId: 'second',
      epoch: 1,
      requestedBy: 'agent-7',
    });
    await cloud.invoke('describe-saga', { sagaId, waitSeconds: 40 });
  }
  const mine = { sessionId: world.sessionId, messageId: 'second', epoch: 1 };
  const asked = { interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7' };
  const ticket = { tool: 'create_support_ticket', arguments: { subject: 's', body: 'b' } };
  await cloud.invoke('start-saga', { sagaId: 'late-live', ...asked, ...mine });
  await cloud.invoke('submit-step', { sagaId: 'late-live', stepId: 'one', ...ticket, ...mine });
  await cloud.invoke('park-saga', { sessionId: world.sessionId, summary: 'one ticket' });
  // So that the rollback has something to capture.
  edit(world.root, 5, world.paths);
  await cloud.invoke('call-tool', { requestId: 'late-call', ...ticket, ...mine, requestedBy: 'agent-7' });
  await world.rollback('back', first.checkpointId);
  // A new repository brings a new base, and this much is uploaded with a signed URL.
  createRepositories(world.root, ['added']);
  shell(world.root, 'head -c 300000 /dev/urandom > added/large.bin');
  await world.checkpoint('third');
  const { sessionId } = world;
  await loseShadows();
  edit(world.root, 4, world.paths);
  const back = { sessionId, to: { checkpointId: first.checkpointId }, requestId: 'back', by: 'rita' };
  await cloud.invoke('rewind', {
    ...back,
    acceptResidue: true,
    reason: 'it may stay',
    waitSeconds: 40,
  });
  await cloud.invoke('diff', { sessionId, from: first.checkpointId, to: 'now', requestId: 'd' });
  // Who names what is not there is told what is.
  const unknown = { sessionId, from: 'no-such-message', to: 'now' };
  await expect(cloud.invoke('diff', unknown)).rejects.toMatchObject({ errorType: 'MessageNotFound' });
  // The shadows were lost, so the captures come from the store.
  const blamed = { sessionId, path: 'api/a.txt', at: 'second', requestId: 'blame' };
  await expect(cloud.invoke('blame', blamed)).resolves.toMatchObject({ repository: 'api', path: 'a.txt' });
  await cloud.invoke('changes', { sessionId, messageId: 'second' });
  await cloud.invoke('list-sagas', { sessionId, messageId: 'second' });
  await cloud.invoke('progress', { sessionId });
  await cloud.invoke('context', { sessionId });
  const opening = { tool: 'open_workspace', arguments: { sessionId } };
  const opened = { requestId: 'open', ...opening, requestedBy: 'agent-7', waitSeconds: 60 };
  const { step } = await cloud.invoke('call-tool', opened);
  expect(step).toMatchObject({ status: 'committed' });
  const commitments = [{ id: 'true', description: 'is true', command: 'true' }];
  await cloud.invoke('verify-commitments', { sessionId, messageId: 'second', commitments });
  const search = { sessionId, bad: 'second', requestId: 'search', command: '! grep -q "edit 2" api/a.txt' };
  await expect(cloud.invoke('bisect-session', search)).resolves.toMatchObject({ outcome: 'found' });
  await cloud.invoke('progress', { sessionId, requestId: 'search' });
  const place = { sandboxId: world.sandboxId, projectsRoot: '/home/user/work' };
  await cloud.invoke('preflight', { ...place, requestId: 'p' });
  const fork = await cloud.invoke('fork-session', { sessionId, requestId: 'fork' });
  const [from, forkRoot] = [String(fork['sessionId']), rootOf(cloud, String(fork['sandboxId']))];
  shell(forkRoot, 'for r in */; do echo of the fork > "$r/of-the-fork"; done');
  await cloud.invoke('checkpoint', {
    sessionId: from,
    messageId: 'in-fork',
    toolExecutionId: 'in-fork',
    reason: 'r',
  });
  await cloud.invoke('merge', { from, into: sessionId, requestId: 'merge' });
  shell(world.root, 'rm -rf api/.agent-shadow; echo since > api/since');
  await cloud.invoke('revert', { sessionId, paths: ['api'], requestId: 'revert' });
  shell(forkRoot, 'echo last > api/last');
  await cloud.invoke('end-session', { sessionId: from, discard: true });
  await cloud.invoke('timeline', { sessionId });
  await cloud.invoke('list-sessions', {});
  await cloud.invoke('search-sessions', { words: 'first' });
  await cloud.invoke('search-sessions', { words: 'first', sessionId });
  await cloud.invoke('rehydrate', { sessionId, checkpointId: first.checkpointId, mode: 'review' });
  const { copies } = await cloud.invoke('list-copies', {});
  for (const { sandboxId } of copies as { sandboxId: string }[])
    await cloud.invoke('delete-copy', { sandboxId });
  await cloud.invoke('rehydrate', { sessionId, mode: 'resume', requestId: 'resume' });
  await cloud.invoke('end-session', { sessionId });
  await expire(cloud, 4 * 365);
};

/** An execution that is not there yet is an error of the service. */
const isRunning = async (client: Pick<SagaCloud, 'execution'>, sagaId: string, generation: number) =>
  (await client.execution(sagaId, generation).catch(() => undefined))?.status === 'RUNNING';

/** A lock that is waited for, broken, and given back; a project that is full. */
const workLocks = async ({ cloud, server, ...client }: SagaCloud): Promise<void> => {
  const booking = quickCatalog(server.url).tools.find(({ name }) => name === 'post_ledger_adjustment');
  if (booking === undefined) throw new Error('the refund example has no booking');
  // Nobody serves it, so each call is refused.
  const alone = { ...booking, name: 'book_alone', resourceKey: 'memo', exclusive: true };
  await cloud.invoke('put-catalog', { tools: [alone], definitions: [] });
  const start = (sagaId: string, memo: string, asks: boolean) => {
    const step = { id: 'book', tool: alone.name, arguments: { memo, amount: 1 } };
    const plan = { steps: [{ ...step, ...(asks ? { approval: { timeoutSeconds: 600 } } : {}) }] };
    const limited = { project: 'books', maxConcurrent: 1 };
    return cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'me', ...limited });
  };
  for (const [holder, next] of [
    ['holds', 'waits'],
    ['breaks', 'gets'],
  ] as const) {
    await start(holder, holder, true);
    await client.observe(holder);
    await start(next, holder, false);
    await vi.waitUntil(async () => (await client.observe(next, 0)).doing?.what === 'waiting', 60_000);
  }
  await cloud.invoke('list-locks', {});
  await cloud.invoke('export-ledger', { from: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10) });
  await cloud.invoke('list-locks', { sagaId: 'holds' });
  await cloud.invoke('operate-saga', { sagaId: 'holds', action: 'cancel', by: 'ops' });
  expect((await client.observe('holds')).status).toBe('COMPENSATED');
  const about = { resourceKey: 'breaks', by: 'ops', evidence: 'nobody answers' };
  await cloud.invoke('operate-saga', { sagaId: 'breaks', action: 'break-lock', ...about });
  for (const sagaId of ['breaks', 'waits', 'gets']) {
    await cloud.invoke('operate-saga', { sagaId, action: 'cancel', by: 'ops' });
    await client.observe(sagaId);
  }
};

export const workSagas = async ({ cloud, faults, server, ...client }: SagaCloud): Promise<void> => {
  await cloud.invoke('list-catalog', {});
  // Its tools are in the catalog already.
  await cloud.invoke('put-catalog', { tools: [], definitions: refundDefinitions });
  await client.start('done');
  await client.observe('done');
  await client.start('asked', 'refund-approved');
  await client.observe('asked');
  await cloud.invoke('answer', { sagaId: 'asked', stepId: 'refund', decision: 'approve', by: 'ada' });
  await client.observe('asked');
  await cloud.invoke('answer', { sagaId: 'asked', stepId: 'refund', decision: 'approve', by: 'ada' });
  await client.start('cancelled', 'refund-approved');
  await client.observe('cancelled');
  await cloud.invoke('operate-saga', { sagaId: 'cancelled', action: 'cancel', by: 'ada' });
  await client.observe('cancelled');

  // Driven by the function, then by the machine, because the tool may take longer than the caller waits.
  const ticket = { tool: 'create_support_ticket', arguments: { subject: 's', body: 'b' } };
  const limited = { project: 'live', maxConcurrent: 5 };
  const live = { interactive: { onIdle: 'unwind' }, requestedBy: 'agent-7', ...limited };
  await cloud.invoke('start-saga', { sagaId: 'live', ...live });
  await cloud.invoke('submit-step', { sagaId: 'live', stepId: 'one', ...ticket });
  await cloud.invoke('submit-step', { sagaId: 'live', stepId: 'two', ...ticket, waitSeconds: 1 });
  await cloud.invoke('submit-step', { sagaId: 'live', stepId: 'two', ...ticket });
  const called = { requestId: 'r-1', ...ticket, requestedBy: 'agent-7' };
  await cloud.invoke('call-tool', called);
  await cloud.invoke('call-tool', { ...called, requestId: 'r-2', waitSeconds: 1 });
  addOrder(server, 'inline');
  const plan = { definition: { name: 'refund' }, input: { orderId: 'inline' } };
  await cloud.invoke('start-saga', { sagaId: 'inline', ...plan, drive: 'inline', requestedBy: 'agent-7' });
  await cloud.invoke('park-saga', { sagaId: 'live', summary: 'two are done' });
  await cloud.invoke('operate-saga', { sagaId: 'live', action: 'resume', by: 'ada' });
  await cloud.invoke('close-saga', { sagaId: 'live', outcome: 'unwind' });
  await client.observe('live');
  await cloud.invoke('start-saga', { sagaId: 'closed', ...live });
  await cloud.invoke('close-saga', { sagaId: 'closed', outcome: 'complete' });
  await workLocks({ cloud, faults, server, ...client });

  faults.refuseMail = true;
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  await client.start('stuck');
  await client.observe('stuck');
  faults.refuseMail = false;
  faults.closedPeriod = () => false;
  await cloud.invoke('operate-saga', { sagaId: 'stuck', action: 'retry', by: 'fin' });
  await client.observe('stuck');

  const again = {
    steps: [{ id: 'again', tool: 'verify_return_eligibility', arguments: { orderId: 'done' } }],
  };
  const back = {
    sagaId: 'done',
    to: { stepId: 'ticket' },
    requestId: 'back',
    acceptResidue: true,
    reason: 'it may stay',
    by: 'rita',
  };
  await cloud.invoke('rewind', { ...back, plan: again, waitSeconds: 30 });
  await client.observe('done');
  await client.start('redone', 'refund-approved');
  await client.observe('redone');
  const asked = { sagaId: 'redone', to: { stepId: 'verify' }, requestId: 'back', by: 'rita' };
  await cloud.invoke('rewind', { ...asked, waitSeconds: 30 });
  await cloud.invoke('operate-saga', { sagaId: 'redone', action: 'cancel', by: 'ada' });
  addOrder(server, 'child');
  await cloud.invoke('start-saga', {
    sagaId: 'parent',
    plan: { steps: [{ id: 'refund', saga: { definition: 'refund' }, input: { orderId: 'child' } }] },
    input: {},
    requestedBy: 'agent-7',
  });
  await client.observe('parent');

  await cloud.invoke('operate-saga', {
    sagaId: 'done',
    action: 'undo',
    by: 'ada',
    acceptResidue: true,
    evidence: 'it may stay',
  });
  await client.observe('done');

  await client.start('stopped', 'refund-approved');
  await client.observe('stopped');
  await client.stop('stopped');
  await vi.waitUntil(() => isRunning(client, 'stopped', 2), 60_000);
  await cloud.invoke('sweep', {});
  await cloud.invoke('measure-sagas', {});
  const { rows } = await client.rows('done');
  const externalRef = rows.find((row) => row.external_ref !== null)?.external_ref;
  await cloud.invoke('query-ledger', { externalRef });
  await cloud.invoke('query-ledger', { status: 'COMPLETED' });
  await cloud.invoke('query-ledger', { day: new Date().toISOString().slice(0, 10) });
  await cloud.invoke('query-ledger', { sagaId: 'done', evidence: true });
  // The second one reads what the first wrote.
  await cloud.invoke('anchor-ledger', {});
  await cloud.invoke('anchor-ledger', {});
  await cloud.invoke('query-ledger', { anchorsOf: new Date().toISOString().slice(0, 10) });
  await cloud.invoke('list-sagas', {});
  // Nobody listens there: the secret is read and the tombstones are asked all the same.
  for (const operation of ['execute', 'compensate']) {
    await cloud.invoke('http-tool', {
      operation,
      tool: 'far',
      version: '1',
      sagaId: 'far',
      step: 'one',
      attempt: 1,
      idempotencyKey: `far:0:${operation}`,
      forwardKey: 'far:0',
      deadlineMs: Date.now() + 20_000,
      arguments: {},
      endpoint: 'http://127.0.0.1:1/tool',
    });
  }
  await cloud.settled();
};
