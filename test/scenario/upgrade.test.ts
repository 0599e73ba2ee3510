/** Releases that come while sagas wait: what they do was pinned, and a new machine takes over where the old one was. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { refundDefinitions } from '../../examples/refund/catalog.ts';
import { loadTemplate, type Template } from '../../local/template.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import {
  quickCatalog,
  quickTemplate,
  STRIPE_KEY,
  sagaClient,
  startSagaServices,
} from '../support/saga-cloud.ts';

let disposal: AsyncDisposableStack;
let services: Awaited<ReturnType<typeof startSagaServices>>;
let dataDir: string;

beforeEach(async () => {
  disposal = new AsyncDisposableStack();
  services = await startSagaServices();
  disposal.defer(() => services.server.close());
  dataDir = await mkdtemp(join(tmpdir(), 'walkback-upgrade-'));
  disposal.defer(() => rm(dataDir, { recursive: true, force: true }));
});
afterEach(async () => {
  await disposal.disposeAsync();
  vi.unstubAllEnvs();
});

const open = async (template?: Template) => {
  const { url } = services.server;
  vi.stubEnv('REFUND_SERVICES_URL', url);
  vi.stubEnv('REFUND_STRIPE_KEY', STRIPE_KEY);
  const cloud = await startTestCloud({ dataDir, template: await quickTemplate(template) });
  const client = sagaClient(cloud, services.server);
  const close = async () => {
    client.sfn.destroy();
    await cloud.close();
  };
  disposal.defer(close);
  return { cloud, ...client, close };
};

const approve = (cloud: TestCloud, sagaId: string) =>
  cloud.invoke('answer', { sagaId, stepId: 'refund', decision: 'approve', by: 'ada' });

/** The next release: the approved refund loses all but its first step, and every tool is served by a function that is not there. */
const nextCatalog = (url: string) => {
  const { tools } = quickCatalog(url);
  return {
    tools: tools.map((tool) => ({
      ...tool,
      version: `${tool.version}9`,
      functionName: 'walkback-tool-gone',
    })),
    definitions: refundDefinitions.map((definition) => ({
      ...definition,
      version: `${definition.version}9`,
      plan: { ...definition.plan, steps: definition.plan.steps.slice(0, 1) },
    })),
  };
};

/** The same machine with a state more on every path, and another name for a state that sagas stand in. */
const changedMachine = (template: Template): Template => {
  const changed = structuredClone(template);
  for (const resource of Object.values(changed.Resources)) {
    if (resource.Type !== 'AWS::StepFunctions::StateMachine') continue;
    const definition = JSON.parse(String(resource.Properties['DefinitionString'])) as {
      States: Record<string, Record<string, unknown>>;
    };
    const text = JSON.stringify(definition).replaceAll('"Await"', '"WaitForPerson"');
    const next = JSON.parse(text) as typeof definition;
    next.States['Advance'] = { ...next.States['Advance'], Next: 'Look' };
    next.States['Look'] = { Type: 'Pass', Next: 'Route' };
    resource.Properties['DefinitionString'] = JSON.stringify(next);
  }
  return changed;
};

test('a saga that waits while its template and tools change goes on with the ones it was started with', async () => {
  const { cloud, start, observe, isSound } = await open();
  await cloud.invoke('put-catalog', quickCatalog(services.server.url));
  await start('before', 'refund-approved');
  expect(await observe('before')).toMatchObject({ status: 'AWAITING' });
  await expect(cloud.invoke('put-catalog', nextCatalog(services.server.url))).resolves.toMatchObject({
    warnings: expect.arrayContaining([expect.stringContaining('walkback-tool-gone is not there yet')]),
  });

  await approve(cloud, 'before');
  const seen = await observe('before');
  expect(seen).toMatchObject({ status: 'COMPLETED' });
  expect(seen.committed.length).toBeGreaterThan(1);
  expect(await isSound('before')).toBe(true);

  // And the release is real: one started now has its single step, and calls what is not there.
  await start('after', 'refund-approved');
  await observe('after');
  await approve(cloud, 'after').catch(() => undefined);
  expect(await observe('after')).not.toMatchObject({ status: 'COMPLETED' });
});

test('sagas that were in flight on the old machine are finished, or undone, by the new one', async () => {
  const before = await open();
  await before.cloud.invoke('put-catalog', quickCatalog(services.server.url));
  for (const sagaId of ['finishes', 'undone']) {
    await before.start(sagaId, 'refund-approved');
    expect(await before.observe(sagaId)).toMatchObject({ status: 'AWAITING' });
  }
  const standing = before.standing();
  await before.close();

  const after = await open(changedMachine(await loadTemplate()));
  await approve(after.cloud, 'finishes');
  await after.cloud.invoke('operate-saga', { sagaId: 'undone', action: 'cancel', by: 'ada' });
  await after.cloud.invoke('sweep', {});
  expect(await after.observe('finishes')).toMatchObject({ status: 'COMPLETED' });
  expect(await after.observe('undone')).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
  for (const sagaId of ['finishes', 'undone']) expect(await after.isSound(sagaId)).toBe(true);
  expect(after.standing().refunds).toBe(standing.refunds + 1);
  const names = (await after.history('finishes', 2)).map((event) => event.stateEnteredEventDetails?.name);
  expect(names).toContain('Look');
});
