/** EventBus that really happen, against the schemas that subscribers are given. */

import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { eventSchema } from '../../cdk/event-schemas.ts';
import { EVENT_DETAILS } from '../../contract/events.ts';
import { createPublishSagaChanges } from '../../core/saga/run/publish-saga-changes.ts';
import type { WalkbackEvent } from '../../core/shared/events.ts';
import { plainTool } from '../support/outage-tools.ts';
import { startSagaCloud } from '../support/saga-cloud.ts';
import { committed, rejected, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';
import { edit, openWorld } from '../support/world.ts';

const DETAILS: Readonly<Record<string, z.ZodObject>> = EVENT_DETAILS;

test('every event of a session and of sagas is as its schema says', async () => {
  await using disposal = new AsyncDisposableStack();
  const sagas = await startSagaCloud();
  disposal.defer(() => sagas.close());
  const { cloud, faults } = sagas;
  await sagas.start('done', 'refund-approved');
  await sagas.observe('done');
  await cloud.invoke('answer', { sagaId: 'done', stepId: 'refund', decision: 'approve', by: 'ada' });
  await sagas.observe('done');
  faults.refuseMail = true;
  await sagas.start('back');
  await sagas.observe('back');
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  await sagas.start('stuck');
  await sagas.observe('stuck');

  const world = await openWorld(cloud, { paths: ['api'] });
  const first = await world.checkpoint('first');
  edit(world.root, 1, world.paths);
  await world.rollback('back', first.checkpointId);
  await cloud.invoke('rehydrate', { sessionId: world.sessionId, mode: 'review' });
  await cloud.invoke('end-session', { sessionId: world.sessionId });
  await cloud.settled();

  const seen = new Set<string>();
  for (const { kind, type = '', body } of cloud.events()) {
    if (kind === 'notification') continue;
    const schema = DETAILS[type];
    if (schema === undefined) throw new Error(`no schema of ${type}`);
    const parsed = schema.strict().safeParse(body);
    expect(parsed.success ? 'valid' : z.prettifyError(parsed.error), type).toBe('valid');
    seen.add(type);
  }
  // A rollback that fails needs a broken sandbox, and a delay takes minutes (below); everything else has happened.
  expect([...seen].sort()).toEqual(
    Object.keys(EVENT_DETAILS)
      .filter((name) => name !== 'rollback.failed' && name !== 'saga.compensation_delayed')
      .sort(),
  );
});

test('a compensation that is delayed is told once, as its schema says', async () => {
  const told: WalkbackEvent[] = [];
  const publish = createPublishSagaChanges({
    events: { publish: async (some) => void told.push(...some) },
    log: { info: () => undefined, warn: () => undefined },
  });
  const pay = scriptedTool('pay', 'compensatable');
  const saga = await scriptedSaga({
    tools: [
      { ...pay, compensation: plainTool.compensation ?? expect.unreachable() },
      scriptedTool('last', 'irreversible'),
    ],
    answer: ({ operation, step }, clock) => {
      if (operation === 'execute') return step === 'last' ? rejected() : committed();
      return clock.nowMs() < awayUntilMs ? rejected(true) : committed();
    },
    storing: (store) => ({
      ...store,
      append: async (after, version, entries, beside) => {
        const before = await store.getHead(after.sagaId);
        const outcome = await store.append(after, version, entries, beside);
        await publish([{ id: `e${after.version}`, ...(before && { before }), after }]);
        return outcome;
      },
    }),
  });
  const awayUntilMs = saga.clock.nowMs() + 3600_000;
  await saga.begin();
  await saga.machine.settle();
  expect(told.map(({ name }) => name)).toEqual([
    'saga.compensating',
    'saga.compensation_delayed',
    'saga.compensated',
  ]);
  const { name = '', detail } = told[1] ?? {};
  const parsed = DETAILS[name]?.strict().safeParse({ eventId: 'e', ...JSON.parse(JSON.stringify(detail)) });
  expect(parsed?.error).toBeUndefined();
  expect(detail).toMatchObject({ code: 'COMPENSATION_DELAYED', delayed: 1 });
});

describe('schemas', () => {
  test.each(Object.entries(EVENT_DETAILS))('of %s is one that a validator takes', (name, detail) => {
    const { $schema: _, ...schema } = JSON.parse(eventSchema(name, detail)) as Record<string, unknown>;
    expect(new Ajv({ strict: false }).validateSchema(schema)).toBe(true);
  });
});
