/** What people are told of an approval and of a failed compensation: once each, with amounts, references and a link. */
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { watchFailure } from '../../cli/ending.ts';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import { EVENT_DETAILS, type SagaNotice } from '../../contract/events.ts';
import { createPublishSagaChanges } from '../../core/saga/people/publish-saga-changes.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { observeFamily } from '../../core/saga/view/family-view.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { WalkbackEvent } from '../../core/shared/events.ts';
import {
  committed,
  rejected,
  SAGA,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from '../support/scripted-saga.ts';
import { part, put, ROOT, runTree } from '../support/tree-saga.ts';

const PAY = scriptedTool('pay', 'compensatable', {
  amount: 'arguments.cents',
  currency: '"EUR"',
  amountDirection: 'out',
  minorUnits: true,
  resourceKey: 'customer',
});

/** Every change of a head goes through the publisher, as from the table's stream. */
const publishing = (told: WalkbackEvent[]) => (store: SagaStore) => {
  const publish = createPublishSagaChanges({
    events: { publish: async (some) => void told.push(...some) },
    log: {
      info: () => undefined,
      warn: (message, more) => expect.unreachable(`${message} ${JSON.stringify(more)}`),
    },
    store,
    consoleUrl: 'https://console.example/',
  });
  return {
    ...store,
    append: async (...[after, version, entries, beside]: Parameters<SagaStore['append']>) => {
      const before = await store.getHead(after.sagaId);
      const outcome = await store.append(after, version, entries, beside);
      if (outcome.written) await publish([{ id: `e${after.version}`, ...(before && { before }), after }]);
      return outcome;
    },
  };
};

const noticesIn = (told: readonly WalkbackEvent[]) =>
  told.flatMap(({ name, detail }) => {
    const notice = detail['notice'] as SagaNotice | undefined;
    return notice === undefined ? [] : [{ name, notice }];
  });

const watched = async (options: Omit<ScriptedSagaOptions, 'storing'>) => {
  const told: WalkbackEvent[] = [];
  const saga = await scriptedSaga({ ...options, storing: publishing(told) });
  return { saga, told, notices: () => noticesIn(told) };
};

const isValid = ({ id, name, detail }: WalkbackEvent): boolean => {
  const schema: z.ZodObject = EVENT_DETAILS[name];
  const present = Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== undefined));
  return schema.strict().safeParse({ eventId: id, ...present }).success;
};

test('an approval that waits is told once, with the amount, the deadline and a link, and without its arguments', async () => {
  const { saga, told, notices } = await watched({
    tools: [PAY],
    steps: [
      {
        id: 'pay',
        tool: 'pay',
        arguments: { cents: 500, customer: 'secret-customer' },
        approval: { timeoutSeconds: 60, prompt: 'Pay it?' },
      },
    ],
    answer: () => committed(),
    onAwait: async () => false,
  });
  await saga.run();
  expect(notices()).toEqual([
    {
      name: 'saga.awaiting',
      notice: expect.objectContaining({
        kind: 'approval_waiting',
        subject: `Walkback: approval waits: ${SAGA}`,
        link: `https://console.example/sagas/${SAGA}`,
        amount: '5.00',
        currency: 'EUR',
        requestedBy: 'me',
        step: 'pay',
      }),
    },
  ]);
  const [{ notice } = expect.unreachable()] = notices();
  expect(notice.text).toMatch(
    /of me waits for an approval: step pay \(pay@1\), 5\.00 EUR\.\n.*Pay it\?\nDeadline: 20/,
  );
  expect(JSON.stringify(notice)).not.toContain('secret-customer');
  expect(told.map(isValid)).not.toContain(false);
});

test('a failed compensation is told with every reference, and how long it took to reconcile once it is', async () => {
  let isOpen = false;
  const { saga, told, notices } = await watched({
    tools: [PAY, scriptedTool('last', 'irreversible')],
    steps: [
      { id: 'pay', tool: 'pay', arguments: { cents: 1999, customer: 'customer-7' } },
      { id: 'last', tool: 'last', arguments: {} },
    ],
    answer: ({ operation, step }) => {
      if (step === 'last') return rejected();
      if (operation === 'compensate') return isOpen ? committed() : rejected();
      return { Payload: { outcome: 'committed', result: {}, externalRef: 're_1' } };
    },
  });
  await saga.run();
  const [{ notice } = expect.unreachable(), ...more] = notices();
  expect(more).toEqual([]);
  expect(notice).toMatchObject({
    kind: 'compensation_failed',
    amount: '19.99',
    references: [
      { step: 'pay', externalRef: 're_1', resourceKey: 'customer-7', amount: '19.99', currency: 'EUR' },
    ],
    more: 0,
  });
  expect(notice.text).toContain('- pay (pay), 19.99 EUR, ref re_1: compensation failed');
  const alert = saga.machine.alerts[0]?.message;
  expect(alert).toContain(`ref re_1, 19.99 EUR, resource customer-7, key ${SAGA}:0: compensation failed`);
  expect(alert).toContain(`Look: https://console.test/sagas/${SAGA}\n`);

  isOpen = true;
  await saga.clock.advance(3_600_000);
  await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'olga' });
  await saga.machine.settle();
  const reconciled = told.find(({ name }) => name === 'saga.compensated');
  expect(reconciled?.detail['secondsToReconcile']).toBeGreaterThanOrEqual(3600);
  expect(told.map(isValid)).not.toContain(false);
});

const stuckBelow = {
  steps: [
    put('first'),
    {
      id: 'outer',
      saga: {
        plan: {
          steps: [
            {
              id: 'inner',
              saga: { plan: { steps: [put('one', { stuck: true }), put('two', { fail: true })] } },
            },
          ],
        },
      },
    },
  ],
};

test('a saga whose children could not be undone is told with what stands in them, and where that is worked', async () => {
  const told: WalkbackEvent[] = [];
  const { saga, status } = await runTree({ plan: stuckBelow, storing: publishing(told) });
  expect(status).toBe('COMPENSATION_FAILED');
  const notice = noticesIn(told).find(({ notice: { subject } }) => subject.endsWith(`: ${ROOT}`))?.notice;
  expect(notice?.references).toContainEqual(
    expect.objectContaining({
      step: 'one',
      sagaId: 'root.outer.inner',
      idempotencyKey: 'root.outer.inner:0',
    }),
  );
  const line = '- outer/inner/one of saga root.outer.inner (put)';
  expect(notice?.text).toContain(line);
  const alert = saga.machine.alerts.find(({ subject }) => subject.endsWith(`: ${ROOT}`));
  expect(alert?.message).toContain(line);
  expect(told.map(isValid)).not.toContain(false);
});

test('a ledger below that is not as it was written keeps nobody from being told', async () => {
  const told: WalkbackEvent[] = [];
  const cut = { isOn: false };
  const { saga } = await runTree({
    plan: stuckBelow,
    storing: (memory) =>
      publishing(told)({
        ...memory,
        pageEntries: async (sagaId, from, limit) => {
          if (cut.isOn && sagaId === 'root.outer') throw new WalkbackError('LedgerBroken', 'cut');
          return memory.pageEntries(sagaId, from, limit);
        },
        append: async (...move) => {
          cut.isOn ||= move[0].sagaId === ROOT && move[0].state.status === 'COMPENSATION_FAILED';
          return memory.append(...move);
        },
      }),
  });
  const isOfRoot = ({ subject }: { subject: string }) => subject.endsWith(`: ${ROOT}`);
  expect(noticesIn(told).filter(({ notice }) => isOfRoot(notice))).toMatchObject([
    { notice: { text: expect.stringContaining('- outer (') } },
  ]);
  expect(saga.machine.alerts.filter(isOfRoot)).toHaveLength(1);
});

test('what is too much to list of a saga below is counted, for everybody who is told', async () => {
  const told: WalkbackEvent[] = [];
  const stuck = Array.from({ length: 25 }, (_, index) => put(`s${index}`, { stuck: true }));
  const { saga } = await runTree({
    plan: {
      steps: [{ id: 'kid', saga: { plan: { steps: [...stuck, put('last', { fail: true })] } } }],
    },
    storing: publishing(told),
  });
  await saga.machine.operate({
    sagaId: 'root.kid',
    action: 'skip',
    stepId: 's3',
    evidence: 'it may stay',
    by: 'olga',
  });
  await saga.machine.settle();
  const entries = saga.memory.ledger.get(ROOT) ?? [];
  const seen = await observeFamily(saga.store, saga.headOf(ROOT), entries);
  const listed = seen.notCompensated.filter(({ sagaId }) => sagaId === 'root.kid');
  expect(listed).toHaveLength(20);
  expect(seen.children).toMatchObject([{ sagaId: 'root.kid', notListed: 5, acceptedNotListed: 1 }]);
  expect(watchFailure(seen)?.message).toBe('24 effects could not be undone.');
  const isOfRoot = ({ subject }: { subject: string }) => subject.endsWith(`: ${ROOT}`);
  const notice = noticesIn(told).find((one) => isOfRoot(one.notice))?.notice;
  // One of them is the step that runs the saga.
  expect([notice?.references.length, notice?.more]).toEqual([21, 5]);
  expect(saga.machine.alerts.find(isOfRoot)?.message).toContain('... and 5 more');

  // Everything is let stand: nobody is needed, and what stands is told all the same.
  for (const { id } of stuck) {
    await saga.machine.operate({
      sagaId: 'root.kid',
      action: 'skip',
      stepId: id,
      evidence: 'it may stay',
      by: 'olga',
    });
    await saga.machine.settle();
  }
  const end = await observeFamily(saga.store, saga.headOf(ROOT), saga.memory.ledger.get(ROOT) ?? []);
  expect(end.status).toBe('COMPENSATED');
  expect(end.notCompensated).toHaveLength(20);
  expect(end.children).toMatchObject([{ sagaId: 'root.kid', notListed: 5, acceptedNotListed: 5 }]);
  expect(watchFailure(end)).toBeUndefined();
  expect(observationText(end, createPaint(false), 120)).toContain('5 more stand, 5 of them accepted');
});

test('what left something below, and is too much to list, is counted, also by the command', async () => {
  const parts = Array.from({ length: 25 }, (_, index) => part(`p${index}`));
  const { saga, status } = await runTree({
    plan: {
      steps: [{ id: 'kid', saga: { plan: { steps: [...parts, put('last', { fail: true })] } } }],
    },
  });
  expect(status).toBe('COMPENSATED');
  const seen = await observeFamily(saga.store, saga.headOf(ROOT), saga.memory.ledger.get(ROOT) ?? []);
  expect(seen.compensated.filter(({ sagaId }) => sagaId === 'root.kid')).toHaveLength(20);
  expect(seen.children).toMatchObject([{ sagaId: 'root.kid', residueNotListed: 5 }]);
  expect(observationText(seen, createPaint(false), 120)).toContain(
    '5 more left something, in saga show root.kid',
  );
  // Its own description has all of them.
  const own = await observeFamily(
    saga.store,
    saga.headOf('root.kid'),
    saga.memory.ledger.get('root.kid') ?? [],
  );
  expect(own.compensated).toHaveLength(25);
});
