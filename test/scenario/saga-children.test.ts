/** Trees of sagas on the embedded cloud: the real machine, tables and functions. */
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest';
import { refundDefinitions } from '../../examples/refund/catalog.ts';
import { addOrder, type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { commandOn } from '../support/tampering.ts';

const test = inTurn('saga-children');

let sagas: SagaCloud;
let command: ReturnType<typeof commandOn>;

beforeAll(async () => {
  sagas = await startSagaCloud();
  command = commandOn(sagas.cloud);
});
afterAll(async () => {
  command.close();
  await sagas.close();
});
beforeEach(() => {
  sagas.faults.refuseMail = false;
  sagas.faults.closedPeriod = () => false;
});

const start = (sagaId: string, steps: unknown[]) =>
  sagas.cloud.invoke('start-saga', { sagaId, plan: { steps }, input: {}, requestedBy: 'agent-7' });

const [refund] = refundDefinitions;

/** The refund without the mail, which nothing takes back: so other steps may follow. */
const plan = { steps: refund?.plan.steps.slice(0, 4) ?? [], output: '{% steps.refund.result.amount %}' };

const orderFor = (id: string) => {
  addOrder(sagas.server, id);
  return { orderId: id };
};

/** A child exists a moment after its parent has named it. */
const observeChild = async (sagaId: string) => {
  await expect
    .poll(() => sagas.cloud.invoke('describe-saga', { sagaId }).catch(() => undefined), { timeout: 60_000 })
    .toBeDefined();
  return sagas.observe(sagaId);
};

/** Children are sealed after their root has completed: what is read meanwhile is of two moments. */
const areSound = async (...ids: string[]): Promise<void> => {
  await expect
    .poll(async () => (await Promise.all(ids.map(sagas.isSound))).every(Boolean), { timeout: 60_000 })
    .toBe(true);
};

describe('a saga with children on the embedded cloud', () => {
  test('completes when its children have', async () => {
    await start('outer', [
      { id: 'inner', saga: { plan }, input: orderFor('inner-order') },
      {
        id: 'both',
        branches: [
          { id: 'a', plan, input: orderFor('order-a') },
          { id: 'b', plan, input: orderFor('order-b') },
        ],
      },
      { id: 'mail', saga: { definition: 'refund' }, input: orderFor('mail-order') },
    ]);
    expect(await sagas.observe('outer')).toMatchObject({ status: 'COMPLETED' });
    expect(await sagas.observe('outer.both.b')).toMatchObject({ status: 'COMPLETED' });
    await areSound('outer', 'outer.inner', 'outer.both.a', 'outer.both.b');
    const { stdout } = await command.run(['ledger', 'verify', 'outer']);
    expect(stdout).toContain('those of 4 sagas below it');
    const { rows } = await sagas.rows('outer.inner');
    expect(rows.at(-1)).toMatchObject({ direction: 'saga', status: 'sealed' });
  });

  test('takes back a completed child when a later one is refused, and goes on when it is repaired', async () => {
    const before = sagas.standing();
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    await start('turns', [
      { id: 'first', saga: { plan }, input: orderFor('first-order') },
      { id: 'gate', saga: { definition: 'refund-approved' }, input: orderFor('second-order') },
    ]);
    expect(await observeChild('turns.gate')).toMatchObject({ status: 'AWAITING' });
    await sagas.cloud.invoke('answer', {
      sagaId: 'turns.gate',
      stepId: 'refund',
      decision: 'reject',
      by: 'ada',
    });
    expect(await sagas.observe('turns')).toMatchObject({ status: 'COMPENSATION_FAILED' });
    expect(await sagas.observe('turns.first')).toMatchObject({ status: 'COMPENSATION_FAILED' });
    sagas.faults.closedPeriod = () => false;
    await sagas.cloud.invoke('operate-saga', { sagaId: 'turns.first', action: 'retry', by: 'fin' });
    await expect
      .poll(async () => (await sagas.observe('turns')).status, { timeout: 60_000 })
      .toBe('COMPENSATED');
    expect(sagas.standing()).toEqual(before);
    await areSound('turns', 'turns.first', 'turns.gate');
  });

  test('goes on when executions of parent and child are stopped', async () => {
    await start('stops', [
      { id: 'inner', saga: { definition: 'refund-approved' }, input: orderFor('stopped-order') },
    ]);
    expect(await observeChild('stops.inner')).toMatchObject({ status: 'AWAITING' });
    await sagas.stop('stops');
    await sagas.stop('stops.inner');
    await sagas.cloud.invoke('answer', {
      sagaId: 'stops.inner',
      stepId: 'refund',
      decision: 'approve',
      by: 'ada',
    });
    await sagas.cloud.invoke('sweep', { sagaId: 'stops.inner' });
    await sagas.cloud.invoke('sweep', { sagaId: 'stops' });
    expect(await sagas.observe('stops')).toMatchObject({ status: 'COMPLETED' });
    await areSound('stops', 'stops.inner');
  });

  describe('with a step that an agent does', () => {
    /** Something, then the agent, then something that uses what the agent gave; and perhaps one that is refused. */
    const begin = async (id: string, ...last: unknown[]) => {
      await start(id, [
        { id: 'order', saga: { plan }, input: orderFor(`${id}-order`) },
        { id: 'work', interactive: { onIdle: 'unwind' }, input: { order: `${id}-order` } },
        {
          id: 'tell',
          tool: 'create_support_ticket',
          arguments: { subject: 'done', body: '{% steps.work.result.ticket %}' },
        },
        ...last,
      ]);
      expect(await observeChild(`${id}.work`)).toMatchObject({
        interactive: { what: 'next-step', input: { order: `${id}-order` } },
      });
      const submitted = await command.run([
        'saga',
        'submit',
        `${id}.work`,
        'ticket',
        '--tool',
        'create_support_ticket',
        '--arguments',
        '{"subject": "s", "body": "b"}',
      ]);
      expect(submitted.stdout).toContain('Step ticket  done');
      await expect
        .poll(async () => (await command.run(['saga', 'tree', id])).stdout, { timeout: 60_000 })
        .toContain(`${id}.work · waits for its next step`);
      const closed = await command.run([
        'saga',
        'close',
        `${id}.work`,
        '--result',
        '{"ticket": "from the agent"}',
      ]);
      expect(closed.stdout).toContain('COMPLETED');
    };

    test('goes on with its result', async () => {
      const before = sagas.standing();
      await begin('agent');
      expect(await sagas.observe('agent')).toMatchObject({ status: 'COMPLETED' });
      expect(sagas.standing().tickets).toBe(before.tickets + 3);
      const { rows } = await sagas.rows('agent');
      const used = rows.find((row) => row['step'] === 'tell' && row['status'] === 'started');
      expect(JSON.stringify(used)).toContain('from the agent');
      await areSound('agent', 'agent.order', 'agent.work');
      const { stdout } = await command.run(['ledger', 'verify', 'agent']);
      expect(stdout).toContain('those of 2 sagas below it');
    });

    test('takes back what the agent did when a later step is refused', async () => {
      const before = sagas.standing();
      await begin('agent-back', {
        id: 'never',
        tool: 'verify_return_eligibility',
        arguments: { orderId: 'there-is-no-such-order' },
      });
      expect(await sagas.observe('agent-back')).toMatchObject({ status: 'COMPENSATED' });
      expect(await sagas.observe('agent-back.work')).toMatchObject({ status: 'COMPENSATED' });
      expect(sagas.standing()).toEqual(before);
      await areSound('agent-back', 'agent-back.order', 'agent-back.work');
    });
  });

  test('is cancelled with what runs below it', async () => {
    const before = sagas.standing();
    await start('stop', [
      { id: 'inner', saga: { definition: 'refund-approved' }, input: orderFor('cancelled-order') },
    ]);
    expect(await observeChild('stop.inner')).toMatchObject({ status: 'AWAITING' });
    await sagas.cloud.invoke('operate-saga', { sagaId: 'stop', action: 'cancel', by: 'ada' });
    expect(await sagas.observe('stop')).toMatchObject({ status: 'COMPENSATED' });
    expect(await sagas.observe('stop.inner')).toMatchObject({ status: 'COMPENSATED' });
    expect(sagas.standing()).toEqual(before);
  });

  test('tells how many more approvals are waited for below than it lists', async () => {
    const asking = (id: string) => ({
      id,
      plan: {
        steps: [
          {
            id: 'tell',
            tool: 'create_support_ticket',
            arguments: { subject: id, body: 'b' },
            approval: { timeoutSeconds: 3600, prompt: 'Tell them?' },
          },
        ],
      },
    });
    const branches = Array.from({ length: 22 }, (_, index) => asking(`b${index}`));
    await start('wide', [{ id: 'all', branches }]);
    const describeIt = () => sagas.cloud.invoke('describe-saga', { sagaId: 'wide' });
    await expect
      .poll(async () => (await describeIt())['awaitingBelowNotListed'], { timeout: 120_000 })
      .toBe(2);
    expect((await describeIt())['awaitingBelow']).toHaveLength(20);
    const { stdout } = await command.run(['saga', 'show', 'wide']);
    expect(stdout).toContain('2 more approvals are waited for below: walkback saga list --status AWAITING');
    await sagas.cloud.invoke('operate-saga', { sagaId: 'wide', action: 'cancel', by: 'ada' });
    expect(await sagas.observe('wide', 120)).toMatchObject({ status: 'COMPENSATED' });
    expect(await describeIt()).not.toHaveProperty('awaitingBelowNotListed');
  });

  test('is refused before anything is written when a child breaks a rule', async () => {
    await expect(start('refused', [{ id: 'inner', saga: { definition: 'no-such' } }])).rejects.toMatchObject({
      errorType: 'PlanRefused',
    });
    await expect(sagas.observe('refused')).rejects.toMatchObject({ errorType: 'SagaNotFound' });
  });
});
