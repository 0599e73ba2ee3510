import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS_PER_ROUND } from '../../core/saga/run/move.ts';
import { answered } from '../support/error-of.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';

let sagas: SagaCloud;

beforeAll(async () => {
  sagas = await startSagaCloud();
});
afterAll(() => sagas.close());
beforeEach(() => {
  sagas.faults.refuseMail = false;
  sagas.faults.closedPeriod = () => false;
  sagas.faults.onNetsuite = () => undefined;
});

const invoke: SagaCloud['cloud']['invoke'] = (name, event) => sagas.cloud.invoke(name, event);

describe('a saga on the embedded cloud', () => {
  test('runs from start to observation in three transitions per step', async () => {
    await sagas.start('runs');
    expect(await sagas.observe('runs')).toMatchObject({ status: 'COMPLETED' });
    expect(await sagas.isSound('runs')).toBe(true);
    const history = await sagas.history('runs');
    // What the head counts for a round, with which the saga goes on in another execution before a history is full.
    expect(history.length).toBeLessThanOrEqual(6 * EVENTS_PER_ROUND);
    const entered = history.filter(({ type }) => type?.endsWith('StateEntered'));
    // Five steps, the last look, and the end.
    expect(entered).toHaveLength(5 * 3 + 3);
  });

  test('answers the same start again, and refuses another one under the same id', async () => {
    await sagas.start('twice');
    await expect(sagas.start('twice')).resolves.toMatchObject({ sagaId: 'twice' });
    await expect(sagas.start('twice', 'refund-approved')).rejects.toMatchObject({
      errorType: 'RequestConflict',
    });
    await sagas.observe('twice');
    expect(
      sagas.server.world.stripe.state.refunds.filter((one) => one.payment_intent === 'pi_twice'),
    ).toHaveLength(1);
  });

  test('takes everything back when a step is refused, and tells the bus', async () => {
    const before = sagas.standing();
    sagas.faults.refuseMail = true;
    await sagas.start('back');
    const seen = await sagas.observe('back');
    expect(seen).toMatchObject({ status: 'COMPENSATED', failed: { step: 'confirm' }, notCompensated: [] });
    expect(seen.compensated.map(({ step }) => step)).toEqual(['refund', 'ticket', 'booking']);
    expect(sagas.standing()).toEqual(before);
    expect(await sagas.isSound('back')).toBe(true);
    await sagas.cloud.settled();
    const told = sagas.cloud.events().filter(({ body }) => (body as { sagaId?: string }).sagaId === 'back');
    expect(told.map(({ type }) => type)).toEqual(['saga.started', 'saga.compensating', 'saga.compensated']);
  });

  test('escalates a failed compensation with every reference, and an operator finishes it', async () => {
    sagas.faults.refuseMail = true;
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    await sagas.start('stuck');
    const seen = await sagas.observe('stuck');
    expect(seen.status).toBe('COMPENSATION_FAILED');
    expect(seen.notCompensated).toMatchObject([
      { step: 'booking', externalRef: expect.stringMatching(/^je-/) },
    ]);
    // Independent compensators went on.
    expect(seen.compensated.map(({ step }) => step)).toEqual(['refund', 'ticket']);

    await expect
      .poll(async () => (await sagas.execution('stuck')).status, { timeout: 60_000 })
      .toBe('FAILED');
    const alert = sagas.cloud
      .events()
      .find(({ kind, body }) => kind === 'notification' && String(body).includes('stuck'));
    expect(alert?.body).toContain(seen.notCompensated[0]?.externalRef);
    expect(alert?.body).toContain('walkback-saga:stuck-g1');
    expect(alert?.body).toContain(`${sagas.cloud.endpoints.api}/sagas/stuck`);

    await expect(
      invoke('operate-saga', { sagaId: 'stuck', action: 'resolve', stepId: 'booking', by: 'fin' }),
    ).rejects.toMatchObject({ errorType: 'InvalidInput' });
    const resolve = {
      sagaId: 'stuck',
      action: 'resolve',
      stepId: 'booking',
      by: 'fin',
      evidence: 'reversed by hand, JE 77',
    };
    await invoke('operate-saga', resolve);
    expect(await sagas.observe('stuck')).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
    await expect(invoke('operate-saga', resolve)).resolves.toMatchObject({ status: 'COMPENSATED' });
    expect(await sagas.isSound('stuck')).toBe(true);
  });

  test('retries a failed compensation when the operator says so', async () => {
    sagas.faults.refuseMail = true;
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    await sagas.start('again');
    expect(await sagas.observe('again')).toMatchObject({ status: 'COMPENSATION_FAILED' });
    sagas.faults.closedPeriod = () => false;
    await invoke('operate-saga', { sagaId: 'again', action: 'retry', by: 'fin' });
    expect(await sagas.observe('again')).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
  });

  test('refuses bad plans before anything is written', async () => {
    const bad = { steps: [{ id: 'x', tool: 'no_such_tool', arguments: {} }] };
    await expect(
      invoke('start-saga', { sagaId: 'bad', plan: bad, input: {}, requestedBy: 'agent-7' }),
    ).rejects.toMatchObject(answered('PlanRefused', 'step x: unknown-tool'));
    await expect(invoke('describe-saga', { sagaId: 'bad' })).rejects.toMatchObject({
      errorType: 'SagaNotFound',
    });
  });
});

describe('approvals', () => {
  const answer = (sagaId: string, decision: string) =>
    invoke('answer', { sagaId, stepId: 'refund', decision, by: 'ada' });

  test('wait, and go on when approved; the same answer twice is one', async () => {
    await sagas.start('ask', 'refund-approved');
    expect(await sagas.observe('ask')).toMatchObject({ status: 'AWAITING', awaiting: { step: 'refund' } });
    await answer('ask', 'approve');
    await answer('ask', 'approve');
    expect(await sagas.observe('ask')).toMatchObject({ status: 'COMPLETED' });
    await expect(answer('ask', 'reject')).rejects.toMatchObject({ errorType: 'AnswerConflict' });
    expect(await sagas.isSound('ask')).toBe(true);
  });

  test('end the saga when rejected', async () => {
    await sagas.start('no', 'refund-approved');
    await sagas.observe('no');
    await answer('no', 'reject');
    expect(await sagas.observe('no')).toMatchObject({
      status: 'COMPENSATED',
      failed: { error: { name: 'ApprovalDeclined' } },
    });
  });

  test('end the saga when nobody answers in time, and refuse the late answer', async () => {
    const plan = {
      steps: [
        {
          id: 'refund',
          tool: 'create_support_ticket',
          arguments: { subject: 's', body: 'b' },
          approval: { timeoutSeconds: 1 },
        },
      ],
    };
    await invoke('start-saga', { sagaId: 'late', plan, input: {}, requestedBy: 'agent-7' });
    await expect
      .poll(async () => (await sagas.observe('late', 0)).status, { timeout: 60_000 })
      .toBe('COMPENSATED');
    await expect(answer('late', 'approve')).rejects.toMatchObject({ errorType: 'ApprovalExpired' });
    expect(await sagas.isSound('late')).toBe(true);
  });

  test('are cut short by a cancel', async () => {
    await sagas.start('cancel', 'refund-approved');
    await sagas.observe('cancel');
    await invoke('operate-saga', { sagaId: 'cancel', action: 'cancel', by: 'ada' });
    expect(await sagas.observe('cancel')).toMatchObject({
      status: 'COMPENSATED',
      failed: { outcome: 'cancelled' },
    });
  });
});

describe('executions that die', () => {
  test('are replaced from the ledger when somebody stops one', async () => {
    await sagas.start('stopped', 'refund-approved');
    await sagas.observe('stopped');
    await sagas.stop('stopped');
    await expect
      .poll(async () => (await sagas.execution('stopped', 2)).status, { timeout: 60_000 })
      .toBe('RUNNING');
    await invoke('answer', { sagaId: 'stopped', stepId: 'refund', decision: 'approve', by: 'ada' });
    expect(await sagas.observe('stopped')).toMatchObject({ status: 'COMPLETED' });
    expect(await sagas.isSound('stopped')).toBe(true);
  });

  /** Stops each execution until the sweeper waits before it starts another: the fourth is the last. */
  const strand = async (sagaId: string): Promise<void> => {
    await sagas.start(sagaId, 'refund-approved');
    await sagas.observe(sagaId);
    for (const generation of [1, 2, 3, 4]) {
      await expect
        .poll(async () => (await sagas.execution(sagaId, generation)).status, { timeout: 60_000 })
        .toBe('RUNNING');
      await sagas.stop(sagaId, generation);
    }
    await sagas.cloud.settled();
    await expect(sagas.execution(sagaId, 5)).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });
  };

  test('again and again go on when an operator asks for the saga, as the runbook says', async () => {
    await strand('stranded');
    expect(await invoke('sweep', {})).toMatchObject({ resumed: [] });
    expect(await invoke('sweep', { sagaId: 'stranded' })).toMatchObject({ resumed: ['stranded'] });
    await invoke('answer', { sagaId: 'stranded', stepId: 'refund', decision: 'approve', by: 'ada' });
    expect(await sagas.observe('stranded')).toMatchObject({ status: 'COMPLETED' });
    expect(await sagas.isSound('stranded')).toBe(true);
  });

  test('again and again are replaced by a cancel', async () => {
    await strand('given-up');
    await invoke('operate-saga', { sagaId: 'given-up', action: 'cancel', by: 'ada' });
    expect(await sagas.observe('given-up')).toMatchObject({ status: 'COMPENSATED' });
    expect(await sagas.isSound('given-up')).toBe(true);
  });
});
