/** Step Functions refuses every call while somebody decides: what is recorded stands, and the answer says so. */
import { expect, test } from 'vitest';
import type { SagaStatus } from '../../contract/saga-observation.ts';
import type { SagaEngine } from '../../core/saga/ports.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, ORIGIN, tokenIn } from '../support/console-in-process.ts';
import { observed } from '../support/observed.ts';
import { runCommand } from '../support/recording-app.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const TOOLS = [scriptedTool('pay', 'compensatable'), scriptedTool('ship', 'compensatable')];
const by = 'ada';

const WARNING = [
  expect.stringMatching(
    new RegExp(
      `^It is recorded and stands, but saga ${SAGA} could not be told now\\..* ConfigurationError: `,
    ),
  ),
];

interface Options {
  asksBefore?: string;
  brokenUndo?: boolean;
  retryable?: boolean;
  onAwait?: () => Promise<boolean>;
}

/** Its engine refuses while `down.now`. */
const opened = async ({ asksBefore, brokenUndo = false, retryable = false, onAwait }: Options = {}) => {
  const down = { now: false, undo: brokenUndo };
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (!down.now) return call();
    throw new WalkbackError(
      retryable ? 'Throttled' : 'ConfigurationError',
      'Step Functions refused the call (AccessDeniedException).',
    );
  };
  const saga = await scriptedSaga({
    tools: TOOLS,
    steps: TOOLS.map(({ name }) => ({
      id: name,
      tool: name,
      arguments: {},
      ...(name === asksBefore ? { approval: { timeoutSeconds: 3600 } } : {}),
    })),
    answer: ({ operation }) => (operation === 'compensate' && down.undo ? rejected() : committed()),
    engineThrough: (engine): SagaEngine => ({
      start: (...given) => through(() => engine.start(...given)),
      look: (...given) => through(() => engine.look(...given)),
      wake: (...given) => through(() => engine.wake(...given)),
    }),
    ...(onAwait === undefined ? {} : { onAwait }),
  });
  return { ...saga, down };
};

type Opened = Awaited<ReturnType<typeof opened>>;

/** The call is made while the engine refuses. */
const refused = async <T>({ down }: Opened, call: () => Promise<T>): Promise<T> => {
  down.now = true;
  try {
    return await call();
  } finally {
    down.now = false;
  }
};

const expectEnd = async (saga: Opened, status: SagaStatus) => {
  await saga.machine.settle();
  const seen = await saga.seen();
  expect(seen.state.status).toBe(status);
  expect(seen.isSound).toBe(true);
};

test('an answer is a success, repeated too, and the saga goes on', async () => {
  const answered: unknown[] = [];
  const saga = await opened({
    asksBefore: 'ship',
    onAwait: async () => {
      const approve = () =>
        refused(saga, () => saga.machine.answer({ sagaId: SAGA, stepId: 'ship', decision: 'approve', by }));
      answered.push(await approve(), await approve());
      return false;
    },
  });
  await saga.begin();
  await expectEnd(saga, 'COMPLETED');
  expect(answered).toEqual(
    [1, 2].map(() =>
      expect.objectContaining({ answered: { decision: 'approve', by, at: expect.any(String) } }),
    ),
  );
  expect(answered).toMatchObject([{ warnings: WARNING }, { warnings: WARNING }]);
});

test('an answer says nothing of it when the engine takes the call', async () => {
  let answered: unknown;
  const saga = await opened({
    asksBefore: 'ship',
    onAwait: async () => {
      answered = await saga.machine.answer({ sagaId: SAGA, stepId: 'ship', decision: 'reject', by });
      return true;
    },
  });
  await saga.begin();
  await expectEnd(saga, 'COMPENSATED');
  expect(answered).not.toHaveProperty('warnings');
});

test('a cancel, also when the engine is throttled', async () => {
  for (const retryable of [false, true]) {
    const saga = await opened({ retryable });
    await saga.begin();
    const cancelled = await refused(saga, () => saga.machine.operate({ sagaId: SAGA, action: 'cancel', by }));
    expect(cancelled.warnings).toEqual(retryable ? [expect.stringContaining(' Throttled: ')] : WARNING);
    await expectEnd(saga, 'COMPENSATED');
  }
});

test('an undo, and its repeat', async () => {
  const saga = await opened();
  await saga.begin();
  await expectEnd(saga, 'COMPLETED');
  const undo = () => refused(saga, () => saga.machine.operate({ sagaId: SAGA, action: 'undo', by }));
  expect(await undo()).toMatchObject({ status: 'COMPENSATING', warnings: WARNING });
  expect(await undo()).toMatchObject({ status: 'COMPENSATING', warnings: WARNING });
  await expectEnd(saga, 'COMPENSATED');
});

test.each(['retry', 'resolve', 'skip'] as const)('a %s', async (action) => {
  const saga = await opened({ brokenUndo: true });
  await saga.begin();
  await expectEnd(saga, 'COMPLETED');
  await saga.machine.operate({ sagaId: SAGA, action: 'undo', by });
  await expectEnd(saga, 'COMPENSATION_FAILED');
  saga.down.undo = false;
  for (const stepId of ['pay', 'ship']) {
    const request = {
      sagaId: SAGA,
      action,
      stepId,
      by,
      ...(action === 'retry' ? {} : { evidence: 'by hand' }),
    };
    expect((await refused(saga, () => saga.machine.operate(request))).warnings).toEqual(WARNING);
    await saga.machine.settle();
  }
  await expectEnd(saga, 'COMPENSATED');
});

test('a rewind', async () => {
  const saga = await opened();
  await saga.begin();
  await expectEnd(saga, 'COMPLETED');
  const request = { sagaId: SAGA, to: { steps: 1 }, requestId: 'back', by };
  expect(await refused(saga, () => saga.machine.rewind(request))).toMatchObject({
    status: 'UNDOING',
    warnings: WARNING,
  });
  await expectEnd(saga, 'COMPLETED');
  expect((await saga.seen()).state.epoch).toBe(1);
});

test('the end of an interactive saga, taken back', async () => {
  const saga = await opened();
  await saga.beginInteractive();
  await saga.machine.submit({ sagaId: SAGA, stepId: 'one', tool: 'pay', arguments: {} });
  const close = { sagaId: SAGA, outcome: 'unwind' as const };
  expect((await refused(saga, () => saga.machine.close(close))).warnings).toEqual(WARNING);
  await expectEnd(saga, 'COMPENSATED');
});

test('a step that is handed to the machine is answered as running', async () => {
  const saga = await opened();
  await saga.beginInteractive();
  const step = { sagaId: SAGA, stepId: 'one', tool: 'pay', arguments: {}, waitSeconds: 0 };
  expect(await refused(saga, () => saga.machine.submit(step))).toMatchObject({
    step: { status: 'running' },
    warnings: WARNING,
  });
  await saga.machine.settle();
  expect((await saga.machine.submit(step)).step.status).toBe('committed');
});

test('a start that is refused is a warning, and one that is throttled is thrown, for the same call again', async () => {
  const saga = await opened();
  const started = await refused(saga, () => saga.begin());
  expect(started).toMatchObject({ status: 'RUNNING', warnings: WARNING });
  await expectEnd(saga, 'COMPLETED');

  const throttled = await opened({ retryable: true });
  await expect(refused(throttled, () => throttled.begin())).rejects.toMatchObject({ name: 'Throttled' });
  expect((await throttled.begin()).warnings).toEqual([]);
  await expectEnd(throttled, 'COMPLETED');
});

const TOLD = {
  sagaId: SAGA,
  status: 'COMPENSATING',
  answered: { decision: 'approve', by: 'ada', at: '2026-01-02T10:00:00.000Z' },
  warnings: ['it goes on later'],
};

test.each([
  [['saga', 'approve', SAGA, 'pay'], 'walkback-answer'],
  [['saga', 'reject', SAGA, 'pay'], 'walkback-answer'],
  [['saga', 'cancel', SAGA], 'walkback-operate-saga'],
  [['saga', 'retry', SAGA], 'walkback-operate-saga'],
  [['saga', 'resolve', SAGA, 'pay', '--evidence', 'x'], 'walkback-operate-saga'],
  [['saga', 'skip', SAGA, 'pay', '--reason', 'x'], 'walkback-operate-saga'],
  [['saga', 'undo', SAGA, '--yes'], 'walkback-operate-saga'],
  [['saga', 'close', SAGA, '--outcome', 'unwind'], 'walkback-close-saga'],
] as const)('the command %j ends well and says it', async (argv, name) => {
  const answers = { [name]: TOLD, 'walkback-describe-saga': observed({ sagaId: SAGA }) };
  const { stderr, stdout, failure } = await runCommand([...argv], { env: { USER: 'ada' }, answers });
  expect(failure).toBeUndefined();
  expect(stderr).toContain('! it goes on later\n');
  expect(stdout).toContain(SAGA);
});

test.each([
  ['/queue/answer', { saga: SAGA, step: 'pay', decision: 'approve' }],
  ['/queue/operate', { saga: SAGA, step: 'pay', action: 'retry' }],
  [`/sagas/${SAGA}/undo`, {}],
])('the console says it after %s', async (place, fields) => {
  const { fetchPage, enter } = made({
    'list-sagas': ({ status }: { status: string }) => ({
      sagas: status === 'AWAITING' ? [] : [{ sagaId: SAGA }],
    }),
    'describe-saga': () =>
      observed({
        sagaId: SAGA,
        status: 'COMPENSATION_FAILED',
        notCompensated: [{ step: 'pay', tool: 'pay', path: '', externalRef: null, reason: 'no' }],
      }),
    'operate-saga': ({ dryRun }: { dryRun?: boolean }) =>
      dryRun === true ? { sagaId: SAGA, status: 'COMPENSATING' } : TOLD,
    answer: () => TOLD,
  });
  const { cookie } = await enter();
  const token = tokenIn(await (await fetchPage('/queue', { headers: { cookie } })).text());
  const answer = await fetchPage(place, {
    headers: { cookie, origin: ORIGIN },
    form: { form_token: token, once: 'once', ...fields },
  });
  expect(await answer.text()).toContain('it goes on later');
});
