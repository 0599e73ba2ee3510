/** A session with a real sandbox and a real machine is rewound: effects, then files, then the conversation (L6, L7). */
import { expect } from 'vitest';
import type { RewindAnswer } from '../../contract/rewind.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { addOrder, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { edit, openWorld } from '../support/world.ts';

const test = inTurn('rewind');

const sagas = shared(startSagaCloud);

test('files and effects of two messages go back together, or the files stay where they are', async () => {
  const { cloud, faults, server, observe, standing, isSound } = sagas();
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  const { sessionId } = world;
  const start = async (sagaId: string, messageId: string, definition = 'refund') => {
    addOrder(server, sagaId);
    await cloud.invoke('start-saga', {
      sagaId,
      definition: { name: definition },
      input: { orderId: sagaId },
      sessionId,
      messageId,
      requestedBy: 'agent-7',
    });
    return observe(sagaId);
  };
  edit(world.root, 1, world.paths);
  const first = await world.checkpoint('tool-1', 'm1');
  await start('kept', 'm1');
  edit(world.root, 2, world.paths);
  await world.checkpoint('tool-2', 'm2');
  await start('late', 'm2');
  edit(world.root, 3, world.paths);
  await world.checkpoint('tool-3', 'm3');
  expect(await start('asks', 'm3', 'refund-approved')).toMatchObject({ status: 'AWAITING' });
  const before = world.fingerprint();
  const request = {
    sessionId,
    to: { messageId: 'm1' },
    requestId: 'back',
    guidance: 'Leave the orders alone.',
    by: 'rita',
  };
  const rewind = async (more: Record<string, unknown> = {}) =>
    (await cloud.invoke('rewind', { ...request, ...more })) as unknown as RewindAnswer;

  // A rollback says what it would leave standing (L7).
  const plan = await cloud.invoke('rollback', {
    sessionId,
    messageId: 'm1',
    requestId: 'plan',
    dryRun: true,
  });
  const { effects, warnings } = plan as unknown as RollbackAnswer;
  expect(effects?.map(({ sagaId, step, reversible }) => `${sagaId} ${step} ${reversible}`)).toEqual([
    'late refund true',
    'late ticket true',
    'late booking true',
    'late confirm false',
  ]);
  expect(warnings).toEqual([expect.stringContaining('4 effects of sagas')]);

  // The mail is out: refused, and nothing was changed.
  await expect(rewind()).rejects.toMatchObject({ errorType: 'PointOfNoReturn' });
  expect(standing()).toMatchObject({ refunds: 2, tickets: 2, mails: 2 });

  // A compensator fails: files are untouched, and the old epoch is stale.
  faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  const stopped = await rewind({ acceptResidue: true, reason: 'it may stay', waitSeconds: 60 });
  expect(stopped).toMatchObject({ status: 'STOPPED' });
  expect(world.fingerprint()).toEqual(before);
  expect(await observe('asks')).toMatchObject({ status: 'COMPENSATED' });
  const late = { sessionId, epoch: 1, messageId: 'm4', toolExecutionId: 'tool-4', reason: 'before-tool' };
  await expect(cloud.invoke('checkpoint', late)).rejects.toMatchObject({ errorType: 'StaleEpoch' });

  // An operator repairs it, and the same request goes on.
  faults.closedPeriod = () => false;
  await cloud.invoke('operate-saga', { sagaId: 'late', action: 'retry', by: 'fin' });
  const through = await rewind({ acceptResidue: true, reason: 'it may stay', waitSeconds: 60 });
  expect(through).toMatchObject({
    status: 'REWOUND',
    trimAfterMessageId: 'm1',
    guidance: 'Leave the orders alone.',
    files: { status: 'APPLIED' },
  });
  expect(world.fingerprint()).toEqual(first.looks);
  // Of `late` the mail stays, and `kept` is as it was.
  expect(standing()).toEqual({ refunds: 1, tickets: 1, booked: -2500, mails: 2 });
  expect(await observe('kept')).toMatchObject({ status: 'COMPLETED' });
  for (const sagaId of ['kept', 'late', 'asks']) expect(await isSound(sagaId), sagaId).toBe(true);

  // Asked once more, it is the same rewind.
  edit(world.root, 5, world.paths);
  const after = world.fingerprint();
  expect(await rewind({ acceptResidue: true, reason: 'it may stay' })).toMatchObject({
    status: 'REWOUND',
    files: through.files,
  });
  expect(world.fingerprint()).toEqual(after);
});

test('a saga is rewound by the real machine, and goes on with other steps', async () => {
  const { cloud, observe, start, isSound, rows } = sagas();
  await start('alone');
  expect(await observe('alone')).toMatchObject({ status: 'COMPLETED' });
  const rewound = await cloud.invoke('rewind', {
    sagaId: 'alone',
    to: { stepId: 'refund' },
    guidance: 'No ticket.',
    plan: {
      steps: [
        {
          id: 'book',
          tool: 'post_ledger_adjustment',
          arguments: { memo: 'again', amount: '{% -steps.refund.result.amount %}' },
        },
      ],
    },
    acceptResidue: true,
    reason: 'it may stay',
    requestId: 'rw',
    by: 'rita',
    waitSeconds: 60,
  });
  expect(rewound).toMatchObject({ status: 'REWOUND' });
  expect(await observe('alone')).toMatchObject({
    status: 'COMPLETED',
    epoch: 1,
    guidance: { text: 'No ticket.', by: 'rita' },
    committed: [{ step: 'refund' }, { step: 'book', epoch: 1 }],
    compensated: [{ step: 'ticket' }, { step: 'booking' }],
    notCompensated: [{ step: 'confirm' }],
  });
  expect(await isSound('alone')).toBe(true);
  const keys = (await rows('alone')).rows.map((row) => row.idempotency_key);
  expect(keys).toContain('alone:2@1');
  const { evidence } = await cloud.invoke('query-ledger', { sagaId: 'alone', evidence: true, limit: 1000 });
  expect(evidence).toMatchObject({ findings: [] });
});
