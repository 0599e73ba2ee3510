/** Events that really happen, against the schemas that subscribers are given. */
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { EVENT_DETAILS, eventSchema } from '../../cdk/event-schemas.ts';
import { startSagaCloud } from '../support/saga-cloud.ts';
import { edit, openWorld } from '../support/world.ts';

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
    const schema = EVENT_DETAILS[type];
    if (schema === undefined) throw new Error(`no schema of ${type}`);
    const parsed = schema.strict().safeParse(body);
    expect(parsed.success ? 'valid' : z.prettifyError(parsed.error), type).toBe('valid');
    seen.add(type);
  }
  // A rollback that fails needs a broken sandbox; everything else has happened.
  expect([...seen].sort()).toEqual(
    Object.keys(EVENT_DETAILS)
      .filter((name) => name !== 'rollback.failed')
      .sort(),
  );
});

describe('schemas', () => {
  test.each(Object.entries(EVENT_DETAILS))('of %s is one that a validator takes', (name, detail) => {
    const { $schema: _, ...schema } = JSON.parse(eventSchema(name, detail)) as Record<string, unknown>;
    expect(new Ajv({ strict: false }).validateSchema(schema)).toBe(true);
  });
});
