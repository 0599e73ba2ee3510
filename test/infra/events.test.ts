/** The schemas of events that subscribers are given; those that happen in a working cloud meet them in grants.test.ts. */

import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { eventSchema } from '../../cdk/event-schemas.ts';
import { EVENT_DETAILS } from '../../contract/events.ts';
import { createPublishSagaChanges } from '../../core/saga/people/publish-saga-changes.ts';
import type { WalkbackEvent } from '../../core/shared/events.ts';
import { plainTool } from '../support/outage-tools.ts';
import { committed, rejected, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const DETAILS: Readonly<Record<string, z.ZodObject>> = EVENT_DETAILS;

test('a compensation that is delayed is told once, as its schema says', async () => {
  const told: WalkbackEvent[] = [];
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
    storing: (store) => {
      const publish = createPublishSagaChanges({
        events: { publish: async (some) => void told.push(...some) },
        log: { info: () => undefined, warn: () => undefined },
        store,
      });
      return {
        ...store,
        append: async (after, version, entries, beside) => {
          const before = await store.getHead(after.sagaId);
          const outcome = await store.append(after, version, entries, beside);
          await publish([{ id: `e${after.version}`, ...(before && { before }), after }]);
          return outcome;
        },
      };
    },
  });
  const awayUntilMs = saga.clock.nowMs() + 3600_000;
  await saga.run();
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
