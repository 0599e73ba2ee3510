/** A topic that refuses the alert when a saga escalates, and tables that throttle in the middle of one. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import { loadTemplate, type Template } from '../../local/template.ts';
import { addOrder, type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('saga-outage');

interface Definition {
  States: Record<string, { Retry?: { IntervalSeconds?: number }[] }>;
}

/** The same machine, which does not wait between its retries. */
const withoutPauses = async (): Promise<Template> => {
  const template = structuredClone(await loadTemplate());
  for (const { Type, Properties } of Object.values(template.Resources)) {
    if (Type !== 'AWS::StepFunctions::StateMachine') continue;
    const definition = JSON.parse(String(Properties['DefinitionString'])) as Definition;
    for (const { Retry = [] } of Object.values(definition.States)) {
      for (const retry of Retry) retry.IntervalSeconds = 0;
    }
    Properties['DefinitionString'] = JSON.stringify(definition);
  }
  return template;
};

let sagas: SagaCloud;
beforeAll(async () => {
  sagas = await startSagaCloud({ template: await withoutPauses() });
});
afterAll(() => sagas.close());
beforeEach(() => {
  sagas.faults.refuseMail = false;
  sagas.faults.closedPeriod = () => false;
});
afterEach(() => sagas.cloud.heal());

/** As somebody who deletes the topic, takes the machine's right to publish away, or gives both back. */
const setTopics = async (state: string): Promise<void> => {
  const body = JSON.stringify({ state });
  const answer = await fetch(`${sagas.cloud.endpoints.events}/local/topics`, { method: 'PUT', body });
  expect(answer.status).toBe(200);
};
afterEach(() => setTopics('there'));

const alertsOf = (sagaId: string) =>
  sagas.cloud.events().filter(({ kind, type }) => kind === 'notification' && type?.endsWith(sagaId));

const ended = (sagaId: string, generation: number, cause: string) =>
  expect
    .poll(async () => await sagas.execution(sagaId, generation), { timeout: 60_000 })
    .toMatchObject({ status: 'FAILED', error: 'CompensationFailed', cause: expect.stringContaining(cause) });

test.each([
  { state: 'deleted', error: 'SNS.NotFoundException' },
  { state: 'denied', error: 'SNS.AuthorizationErrorException' },
])(
  'an alert topic that is $state: the saga says that nobody was alerted, and the sweeper has the alert sent when it is back',
  async ({ state, error }) => {
    const id = `unheard-${state}`;
    await setTopics(state);
    sagas.faults.refuseMail = true;
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    await sagas.start(id);
    await ended(id, 1, 'nobody was alerted, because the alert topic refused it');
    const seen = await sagas.observe(id);
    expect(seen).toMatchObject({
      status: 'COMPENSATION_FAILED',
      notCompensated: [{ step: 'booking' }],
      alert: { status: 'refused', refusals: 1, error: { name: error } },
    });
    expect(seen.advice).not.toContain('alerted');
    expect(observationText(seen, createPaint(false), 200)).toContain(
      'Nobody was alerted: the alert topic refused the alert',
    );
    const tries = (await sagas.history(id)).filter(({ taskFailedEventDetails }) =>
      taskFailedEventDetails?.error?.startsWith('SNS.'),
    );
    expect(tries.map(({ taskFailedEventDetails }) => taskFailedEventDetails?.error)).toEqual(
      Array.from({ length: 6 }, () => error),
    );

    const { sagas: listed } = await sagas.cloud.invoke('list-sagas', { status: 'COMPENSATION_FAILED' });
    expect(listed).toMatchObject([{ sagaId: id }]);
    await sagas.cloud.settled();
    const told = sagas.cloud.events().filter(({ body }) => (body as { sagaId?: string }).sagaId === id);
    expect(told.map(({ type }) => type)).toContain('saga.compensation_failed');
    expect(alertsOf(id)).toEqual([]);
    // The sweeper knows of it, and waits a minute before the alert is sent again.
    expect(await sagas.cloud.invoke('sweep', {})).toMatchObject({ unalerted: [id], resumed: [] });
    await expect(sagas.execution(id, 2)).rejects.toMatchObject({ name: 'ExecutionDoesNotExist' });
    // An operator does not wait. The topic is still as it was.
    expect(await sagas.cloud.invoke('sweep', { sagaId: id })).toMatchObject({ resumed: [id] });
    await ended(id, 2, 'nobody was alerted');

    await setTopics('there');
    expect(await sagas.cloud.invoke('sweep', { sagaId: id })).toMatchObject({ resumed: [id] });
    await ended(id, 3, 'the alert topic took the alert');
    expect(alertsOf(id)).toMatchObject([{ body: expect.stringContaining('What still stands:') }]);
    expect(await sagas.observe(id)).toMatchObject({ alert: { status: 'delivered', refusals: 2 } });
    expect(await sagas.cloud.invoke('sweep', { sagaId: id })).toMatchObject({ unalerted: [], resumed: [] });

    sagas.faults.closedPeriod = () => false;
    await sagas.cloud.invoke('operate-saga', { sagaId: id, action: 'retry', by: 'fin' });
    expect(await sagas.observe(id)).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
    expect(await sagas.observe(id)).not.toHaveProperty('alert');
    expect(alertsOf(id)).toHaveLength(1);
    expect(await sagas.isSound(id)).toBe(true);
  },
);

const THROTTLED = {
  kind: 'status' as const,
  status: 400,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: JSON.stringify({
    __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
    message: 'The level of configured provisioned throughput for the table was exceeded.',
  }),
};

/** Five writes in a row, from the `first` on: one more than the SDK tries by itself. */
const throttle = (first: number) =>
  Array.from({ length: 5 }, (_, n) => ({
    match: { operation: 'TransactWriteItems' },
    at: first + n,
    action: THROTTLED,
  }));

test('tables that throttle on the way and on the way back: the machine tries again, and nothing is left or doubled', async () => {
  const before = sagas.standing();
  sagas.faults.refuseMail = true;
  // A move on the way, and one on the way back.
  const faults = [...throttle(3), ...throttle(14)];
  const proxy = await sagas.cloud.interpose('dynamodb', faults);
  await sagas.start('throttled');
  expect(await sagas.observe('throttled')).toMatchObject({ status: 'COMPENSATED', notCompensated: [] });
  expect(proxy.seen.filter(({ action }) => action !== undefined)).toHaveLength(faults.length);
  expect(sagas.standing()).toEqual(before);
  expect(await sagas.isSound('throttled')).toBe(true);
  const failures = (await sagas.history('throttled')).filter(({ type }) => type === 'TaskFailed');
  expect(failures.map(({ taskFailedEventDetails }) => taskFailedEventDetails?.error)).toEqual([
    'Throttled',
    'Throttled',
  ]);
});

/** The same of Step Functions: one more than the SDK tries by itself, with its pauses and their jitter. */
const SLOWED = {
  ...THROTTLED,
  body: JSON.stringify({ __type: 'ThrottlingException', message: 'Rate exceeded' }),
};
const DENIED = { ...THROTTLED, body: JSON.stringify({ __type: 'AccessDeniedException', message: 'denied' }) };
const slowed = (operation: string) =>
  Array.from({ length: 4 }, (_, n) => ({ match: { operation }, at: n + 1, action: SLOWED }));

test('Step Functions that throttles: who starts is told to call again, an answer is kept and warns, and nothing starts twice', async () => {
  const before = sagas.standing();
  const proxy = await sagas.cloud.interpose('stepfunctions', slowed('StartExecution'));
  const given = {
    definition: { name: 'refund-approved' },
    input: { orderId: 'slow' },
    requestedBy: 'agent-7',
  };
  addOrder(sagas.server, 'slow');
  const start = () => sagas.cloud.invoke('start-saga', { sagaId: 'slow', ...given });
  await expect(start()).rejects.toMatchObject({ errorType: 'Throttled' });
  expect(proxy.count({ operation: 'StartExecution' })).toBe(4);
  // It is recorded, and the same request starts it.
  expect(await sagas.observe('slow', 0)).toMatchObject({ status: 'RUNNING' });
  await start();
  expect(await sagas.observe('slow')).toMatchObject({ status: 'AWAITING' });

  proxy.setPlan(slowed('SendTaskSuccess'));
  const answer = () =>
    sagas.cloud.invoke('answer', { sagaId: 'slow', stepId: 'refund', decision: 'approve', by: 'ada' });
  // It is recorded, whatever Step Functions says, and the same answer wakes the saga.
  expect(await answer()).toMatchObject({
    answered: { decision: 'approve', by: 'ada' },
    warnings: [expect.stringContaining('Throttled: Step Functions is throttling')],
  });
  expect(proxy.count({ operation: 'SendTaskSuccess' })).toBe(4);
  proxy.setPlan([{ match: { operation: 'SendTaskSuccess' }, at: 1, action: DENIED }]);
  expect(await answer()).toMatchObject({
    answered: { decision: 'approve', by: 'ada' },
    warnings: [expect.stringContaining('ConfigurationError: Step Functions refused the call')],
  });
  expect(await answer()).not.toHaveProperty('warnings');
  expect(await sagas.observe('slow')).toMatchObject({ status: 'COMPLETED' });
  expect(sagas.standing()).toEqual({
    refunds: before.refunds + 1,
    tickets: before.tickets + 1,
    booked: before.booked - 2500,
    mails: before.mails + 1,
  });
  expect(await sagas.isSound('slow')).toBe(true);
});
