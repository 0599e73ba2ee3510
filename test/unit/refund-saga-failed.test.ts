/** What people do when compensators of a refund saga failed. */
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/error-of.ts';
import { expectInvariants, refundSaga, SAGA_ID } from '../support/refund-saga.ts';

describe('the queue of failed compensations (S7)', () => {
  const failed = async (broken: { now: boolean } = { now: true }) => {
    const saga = await refundSaga({
      faults: {
        refuseMail: () => true,
        netsuite: { closedPeriod: (_, externalId) => broken.now && externalId.endsWith(':undo') },
      },
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATION_FAILED');
    return saga;
  };

  test('lists what stands with its reference, and the alert says where to look', async () => {
    const saga = await failed();
    const { observation } = await saga.seen();
    expect(observation.notCompensated).toEqual([
      {
        step: 'booking',
        tool: 'post_ledger_adjustment',
        externalRef: 'je-9001',
        reason: expect.stringContaining('The accounting period is closed'),
        idempotencyKey: `${SAGA_ID}:3`,
        error: errorOf(expect.any(String), 'The accounting period is closed'),
      },
    ]);
    expect(saga.machine.alerts[0]?.message).toContain('je-9001');
    expect(saga.machine.alerts[0]?.message).toContain('https://console.test/arn:execution');
  });

  test.each(['retry', 'resolve', 'skip'] as const)(
    '%s leads to COMPENSATED, and asking twice changes nothing',
    async (action) => {
      const broken = { now: true };
      const saga = await failed(broken);
      broken.now = false;
      const request = { sagaId: SAGA_ID, action, stepId: 'booking', by: 'fin', evidence: 'JE 77' };
      await saga.machine.operate(request);
      await saga.machine.settle();
      const entries = (await saga.seen()).entries.length;
      await saga.machine.operate(request);
      await saga.machine.settle();
      const seen = await saga.seen();
      expect(seen.observation.status).toBe('COMPENSATED');
      expect(seen.entries).toHaveLength(entries);
      expect(seen.observation.notCompensated).toHaveLength(action === 'skip' ? 1 : 0);
    },
  );

  test('a retry that fails again comes back to the queue', async () => {
    const saga = await failed();
    await saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', by: 'fin' });
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATION_FAILED');
  });

  test('refuses to resolve without evidence, to skip without a reason, and to retry what is undone, or what nothing takes back', async () => {
    const saga = await failed();
    for (const action of ['resolve', 'skip'] as const) {
      await expect(
        saga.machine.operate({ sagaId: SAGA_ID, action, stepId: 'booking', by: 'fin' }),
      ).rejects.toMatchObject({
        name: 'InvalidInput',
      });
    }
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', stepId: 'refund', by: 'fin' }),
    ).rejects.toMatchObject(errorOf('OperationRefused', 'refund of saga saga-1 is taken back already'));
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', stepId: 'verify', by: 'fin' }),
    ).rejects.toMatchObject({ name: 'OperationRefused' });
  });
});
