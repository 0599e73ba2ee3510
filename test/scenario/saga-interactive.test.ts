import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SteppedSaga } from '../../contract/saga-answers.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { addOrder, type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';

let sagas: SagaCloud;

beforeAll(async () => {
  sagas = await startSagaCloud();
});
afterAll(() => sagas.close());
beforeEach(() => {
  sagas.faults.refuseMail = false;
  sagas.faults.closedPeriod = () => false;
});

const start = (sagaId: string, interactive: object = { onIdle: 'unwind' }) => {
  addOrder(sagas.server, sagaId);
  return sagas.cloud.invoke('start-saga', { sagaId, interactive, requestedBy: 'agent-7' });
};

const submit = async (sagaId: string, stepId: string, tool: string, args: object, more: object = {}) =>
  (await sagas.cloud.invoke('submit-step', {
    sagaId,
    stepId,
    tool,
    arguments: args,
    ...more,
  })) as unknown as SteppedSaga;

const refund = (id: string) => ({ paymentIntent: `pi_${id}`, amount: 2500 });
const TICKET = { subject: 's', body: 'b' };
const noExecution = (sagaId: string, generation: number) =>
  expect(sagas.execution(sagaId, generation)).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });

describe('an interactive saga on the embedded cloud', () => {
  test('runs its steps in the function, without an execution, and stands when it is closed', async () => {
    const before = sagas.standing();
    await start('live');
    const verified = await submit('live', 'verify', 'verify_return_eligibility', { orderId: 'live' });
    expect(verified.step).toMatchObject({ status: 'committed' });
    const paid = await submit('live', 'pay', 'issue_refund', refund('live'));
    expect(paid.step, JSON.stringify(paid)).toMatchObject({ status: 'committed' });
    expect(paid.saga).toMatchObject({ committed: [{ step: 'pay' }], interactive: { what: 'next-step' } });
    await sagas.cloud.invoke('close-saga', { sagaId: 'live', outcome: 'complete' });
    expect(await sagas.observe('live', 0)).toMatchObject({ status: 'COMPLETED' });
    expect(sagas.standing()).toEqual({ ...before, refunds: before.refunds + 1 });
    for (const generation of [1, 2, 3]) await noExecution('live', generation);
    expect(await sagas.isSound('live')).toBe(true);
    const evidence = await sagas.cloud.invoke('query-ledger', { sagaId: 'live', evidence: true });
    expect(evidence['evidence']).toMatchObject({ findings: [] });
  });

  test('takes everything back by the machine when it is closed so, and tells the bus', async () => {
    const before = sagas.standing();
    await start('back');
    await submit('back', 'pay', 'issue_refund', refund('back'));
    await submit('back', 'tell', 'create_support_ticket', TICKET);
    await sagas.cloud.invoke('close-saga', { sagaId: 'back', outcome: 'unwind', reason: 'other way' });
    const seen: Observation = await sagas.observe('back');
    expect(seen).toMatchObject({
      status: 'COMPENSATED',
      notCompensated: [],
      failed: { reason: 'other way' },
    });
    expect(seen.compensated.map(({ step }) => step)).toEqual(['pay', 'tell']);
    expect(sagas.standing()).toEqual(before);
    expect(await sagas.isSound('back')).toBe(true);
    await sagas.cloud.settled();
    const told = sagas.cloud.events().filter(({ body }) => (body as { sagaId?: string }).sagaId === 'back');
    expect(told.map(({ type }) => type)).toEqual(['saga.started', 'saga.compensating', 'saga.compensated']);
  });

  test('is taken over by the machine for a tool that may take too long, and comes back', async () => {
    await start('slow');
    const begun = await submit('slow', 'tell', 'create_support_ticket', TICKET, { waitSeconds: 1 });
    expect(['running', 'committed']).toContain(begun.step.status);
    expect((await submit('slow', 'tell', 'create_support_ticket', TICKET)).step.status).toBe('committed');
    expect((await sagas.execution('slow', 3)).name).toBe('slow-g3');
    expect((await submit('slow', 'more', 'create_support_ticket', TICKET)).step.status).toBe('committed');
    await noExecution('slow', 4);
    expect(await sagas.isSound('slow')).toBe(true);
  });

  test('asks a person before a step that nothing takes back, unless the starter allowed the tool', async () => {
    const mail = { to: 'ada@example.com', refund: 're_1', ticket: 't_1', entry: 'je_1' };
    await start('ask');
    const asked = await submit('ask', 'mail', 'send_customer_confirmation', mail);
    expect(asked.step, JSON.stringify(asked)).toMatchObject({ status: 'awaiting' });
    expect(asked.saga).toMatchObject({ status: 'AWAITING', awaiting: { step: 'mail', arguments: mail } });
    await expect(submit('ask', 'more', 'create_support_ticket', TICKET)).rejects.toMatchObject({
      errorType: 'StepInProgress',
    });
    await sagas.cloud.invoke('answer', { sagaId: 'ask', stepId: 'mail', decision: 'approve', by: 'ada' });
    const sent = await submit('ask', 'mail', 'send_customer_confirmation', mail, { waitSeconds: 40 });
    expect(sent.step.status).toBe('committed');
    expect(sent.warnings).toEqual([expect.stringContaining('1 irreversible step stands')]);

    await start('allowed', { onIdle: 'unwind', allowIrreversible: ['send_customer_confirmation'] });
    expect((await submit('allowed', 'mail', 'send_customer_confirmation', mail)).step.status).toBe(
      'committed',
    );
    expect(await sagas.isSound('ask')).toBe(true);
  });

  test('refuses what it cannot take, by name, and starts nothing', async () => {
    await start('bad');
    const refused = (step: string, tool: string, args: object, errorType: string) =>
      expect(submit('bad', step, tool, args)).rejects.toMatchObject({ errorType });
    await refused('x', 'no_such_tool', {}, 'PlanRefused');
    await refused('x', 'issue_refund', { amount: 'much' }, 'PlanRefused');
    await submit('bad', 'tell', 'create_support_ticket', TICKET);
    await refused('tell', 'create_support_ticket', { ...TICKET, subject: 'other' }, 'StepConflict');
    await sagas.cloud.invoke('close-saga', { sagaId: 'bad', outcome: 'complete' });
    await refused('y', 'create_support_ticket', TICKET, 'SagaClosed');
    await sagas.start('planned');
    await expect(submit('planned', 'y', 'create_support_ticket', TICKET)).rejects.toMatchObject({
      errorType: 'SagaNotInteractive',
    });
    await expect(submit('nobody', 'y', 'create_support_ticket', TICKET)).rejects.toMatchObject({
      errorType: 'SagaNotFound',
    });
  });
});
