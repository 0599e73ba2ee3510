/** A saga that is rewound: its last effects are undone, and it goes forward again with guidance (L6). */
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import type { Asked } from '../../contract/identity.ts';
import type { SagaRewind } from '../../contract/rewind.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { errorOf } from '../support/error-of.ts';
import {
  committed,
  lost,
  rejected,
  SAGA,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from '../support/scripted-saga.ts';

const TOOLS: ToolManifest[] = [
  scriptedTool('look', 'read'),
  scriptedTool('pay', 'compensatable'),
  scriptedTool('book', 'partial'),
  scriptedTool('ship', 'compensatable'),
];

const rewind = (more: Partial<Asked<SagaRewind>> = {}): Asked<SagaRewind> => ({
  sagaId: SAGA,
  to: { steps: 2 },
  requestId: 'rw-1',
  by: 'rita',
  ...more,
});

const made = async (options: Partial<ScriptedSagaOptions> = {}) => {
  const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed(), ...options });
  const calls = () => saga.requests.map(({ operation, idempotencyKey }) => `${operation} ${idempotencyKey}`);
  return { ...saga, calls };
};

const finished = async (options: Partial<ScriptedSagaOptions> = {}) => {
  const saga = await made(options);
  await saga.run();
  expect((await saga.seen()).state.status).toBe('COMPLETED');
  return saga;
};

describe('a completed saga that is rewound', () => {
  test('undoes the last effects in reverse order, then does these steps again under new keys', async () => {
    const saga = await finished();
    const asked = await saga.machine.rewind(rewind({ guidance: 'Ship to Bern.' }));
    expect(asked).toMatchObject({
      status: 'UNDOING',
      guidance: 'Ship to Bern.',
      sagas: [{ after: 'pay', plan: { undo: [{ step: 'ship' }, { step: 'book' }] } }],
    });
    await saga.machine.settle();
    expect(saga.calls().slice(4)).toEqual([
      `compensate ${SAGA}:3:undo`,
      `compensate ${SAGA}:2:undo`,
      `execute ${SAGA}:2@1`,
      `execute ${SAGA}:3@1`,
    ]);
    const { state, observation } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPLETED', epoch: 1, failure: null });
    expect(state).not.toHaveProperty('rewind');
    expect(Object.keys(observation)[0]).toBe('guidance');
    expect(observation.guidance).toMatchObject({ text: 'Ship to Bern.', by: 'rita' });
    expect(observation.committed).toEqual([
      { step: 'pay', tool: 'pay', externalRef: null },
      { step: 'book', tool: 'book', externalRef: null, epoch: 1 },
      { step: 'ship', tool: 'ship', externalRef: null, epoch: 1 },
    ]);
    expect(observation.compensated.map(({ step }) => step)).toEqual(['book', 'ship']);
  });

  test('is one rewind when it is asked twice, and refuses the same id for another', async () => {
    const saga = await finished();
    await Promise.all([saga.machine.rewind(rewind()), saga.machine.rewind(rewind())]);
    await saga.machine.settle();
    const again = await saga.machine.rewind(rewind());
    await saga.machine.settle();
    expect(again).toMatchObject({ status: 'REWOUND', sagas: [{ epoch: 1, plan: { undo: [] } }] });
    expect(again.sagas[0]?.observation?.status).toBe('COMPLETED');
    expect((await saga.seen()).state.epoch).toBe(1);
    const other = saga.machine.rewind(rewind({ to: { steps: 1 } }));
    await expect(other).rejects.toMatchObject({ name: 'RequestConflict' });
    // An older request is still known after a newer one.
    await saga.machine.rewind(rewind({ requestId: 'rw-2', to: { stepId: 'look' } }));
    await saga.machine.settle();
    expect(await saga.machine.rewind(rewind())).toMatchObject({ status: 'REWOUND' });
    expect(saga.calls().slice(-6)).toEqual([
      `compensate ${SAGA}:3@1:undo`,
      `compensate ${SAGA}:2@1:undo`,
      `compensate ${SAGA}:1:undo`,
      `execute ${SAGA}:1@2`,
      `execute ${SAGA}:2@2`,
      `execute ${SAGA}:3@2`,
    ]);
    expect((await saga.seen()).isSound).toBe(true);
  });

  test('to its beginning and back to its end: later rewinds leave alone what stands', async () => {
    const saga = await finished();
    await saga.machine.rewind(rewind({ to: { steps: 4 } }));
    await saga.machine.settle();
    await saga.machine.rewind(rewind({ requestId: 'rw-2', to: { stepId: 'pay' } }));
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPLETED', epoch: 2 });
    expect(observation.committed.map(({ step, epoch }) => `${step}@${epoch}`)).toEqual([
      'pay@1',
      'book@2',
      'ship@2',
    ]);
  });

  test('a dry run answers the plan and changes nothing', async () => {
    const saga = await finished();
    const before = await saga.seen();
    const planned = await saga.machine.rewind(rewind({ dryRun: true }));
    expect(planned).toMatchObject({
      status: 'PLANNED',
      sagas: [
        { after: 'pay', plan: { undo: [{ step: 'ship' }, { step: 'book', partly: true }], stands: [] } },
      ],
    });
    expect((await saga.seen()).head).toEqual(before.head);
  });

  test('bad targets are refused by name, and nothing is written', async () => {
    const saga = await finished();
    const before = await saga.seen();
    const refused = (more: Partial<Asked<SagaRewind>>) => expect(saga.machine.rewind(rewind(more))).rejects;
    await refused({ to: { steps: 5 } }).toMatchObject({ name: 'InvalidInput' });
    await refused({ to: { stepId: 'nowhere' } }).toMatchObject({ name: 'StepNotFound' });
    await refused({ sagaId: 'other' }).toMatchObject({ name: 'SagaNotFound' });
    await refused({ plan: { steps: [{ id: 'a', tool: 'nothing', arguments: {} }] } }).toMatchObject({
      name: 'PlanRefused',
    });
    await refused({ plan: { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] } }).toMatchObject(
      errorOf('PlanRefused', 'duplicate-step'),
    );
    await refused({ plan: [] }).toMatchObject({ name: 'PlanRefused' });
    expect((await saga.seen()).head).toEqual(before.head);
  });

  test('goes on with another plan, which may use what stands and is verified with it', async () => {
    const saga = await finished({
      answer: ({ step }) => committed({ from: step }),
      steps: [
        ...TOOLS.map(({ name }) => ({ id: name, tool: name, arguments: {} })),
        ...Array.from({ length: 9 }, (_, at) => ({ id: `more${at}`, tool: 'look', arguments: {} })),
      ],
    });
    await saga.machine.rewind(
      rewind({
        to: { stepId: 'pay' },
        plan: {
          steps: [
            { id: 'mail', tool: 'ship', arguments: { about: '{% steps.pay.result.from %}' } },
            { id: 'done', tool: 'look', arguments: {} },
          ],
        },
      }),
    );
    await saga.machine.settle();
    const { state, entries, observation } = await saga.sound();
    expect(state).toMatchObject({
      status: 'COMPLETED',
      cursor: 4,
      plans: [{ epoch: 1, from: 2, stepCount: 4 }],
    });
    expect(saga.requests.at(-2)).toMatchObject({ step: 'mail', arguments: { about: 'pay' } });
    const [asked] = entries.filter(({ status }) => status === 'rewind_requested');
    expect(asked).toMatchObject({ plan: { replaces: (await saga.seen()).head.planHash } });
    expect(observation.compensated.map(({ step }) => step)).toEqual(['book', 'ship']);
    // Back over both plans: each effect is undone by the step that it was.
    await saga.machine.rewind(rewind({ requestId: 'rw-2', to: { steps: 4 } }));
    await saga.machine.settle();
    expect((await saga.seen()).state).toMatchObject({ status: 'COMPLETED', epoch: 2 });
    expect((await saga.seen()).isSound).toBe(true);
    expect(saga.requests.slice(-6).map(({ operation, step }) => `${operation} ${step}`)).toEqual([
      'compensate mail',
      'compensate pay',
      'execute look',
      'execute pay',
      'execute mail',
      'execute done',
    ]);
  });
});

describe('what nothing takes back', () => {
  const tools = [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')];

  test('refuses a rewind over it before anything is written', async () => {
    const saga = await finished({ tools });
    const before = await saga.seen();
    await expect(saga.machine.rewind(rewind())).rejects.toMatchObject(errorOf('PointOfNoReturn', 'mail'));
    expect((await saga.seen()).head).toEqual(before.head);
    expect(await saga.machine.rewind(rewind({ dryRun: true }))).toMatchObject({
      sagas: [{ plan: { undo: [{ step: 'pay' }], stands: [{ step: 'mail', reason: 'irreversible' }] } }],
    });
  });

  test('stays when it is accepted, and is told of', async () => {
    const saga = await finished({ tools });
    await saga.machine.rewind(rewind({ acceptResidue: true, reason: 'it may stay' }));
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state.status).toBe('COMPLETED');
    expect(observation.notCompensated).toMatchObject([
      { step: 'mail', reason: expect.stringMatching(/accepted/) },
    ]);
    expect(observation.committed.map(({ step, epoch }) => `${step}@${epoch}`)).toEqual(['pay@1', 'mail@1']);
    // One mail was let stand and another one was sent: people are told of both.
    const lines = observationText(observation, createPaint(false), 200).split('\n');
    expect(lines.filter((line) => / mail /.test(line))).toEqual([
      '  ✔ mail mail  no reference  epoch 1',
      '  ✖ mail mail  no reference',
    ]);
  });
});

describe('a saga that runs', () => {
  test('settles what is in flight, also in doubt, before it turns back', async () => {
    let asked = false;
    const saga = await made({
      answer: async ({ step, operation }) => {
        if (step !== 'book' || operation !== 'execute' || asked) return committed();
        asked = true;
        expect(await saga.machine.rewind(rewind({ to: { stepId: 'look' } }))).toMatchObject({
          status: 'UNDOING',
        });
        return lost;
      },
    });
    await saga.run();
    expect(saga.calls()).toEqual([
      `execute ${SAGA}:0`,
      `execute ${SAGA}:1`,
      `execute ${SAGA}:2`,
      `compensate ${SAGA}:2:undo`,
      `compensate ${SAGA}:1:undo`,
      `execute ${SAGA}:1@1`,
      `execute ${SAGA}:2@1`,
      `execute ${SAGA}:3@1`,
    ]);
    expect((await saga.seen()).isSound).toBe(true);
  });

  test('asks again after a rewind, and an answer to the old question is refused', async () => {
    const steps = TOOLS.map(({ name }) => ({
      id: name,
      tool: name,
      arguments: {},
      ...(name === 'ship' ? { approval: { timeoutSeconds: 3600 } } : {}),
    }));
    const epochs: (number | undefined)[] = [];
    const answer = { sagaId: SAGA, stepId: 'ship', decision: 'approve', by: 'ada' } as const;
    const saga = await made({
      steps,
      onAwait: async () => {
        const { awaiting } = (await saga.seen()).observation;
        epochs.push(awaiting?.epoch);
        if (epochs.length === 1) {
          await saga.machine.rewind(rewind({ to: { steps: 1 }, guidance: 'Smaller.' }));
          return false;
        }
        await expect(saga.machine.answer(answer)).rejects.toMatchObject({ name: 'AnswerConflict' });
        await expect(saga.machine.answer({ ...answer, epoch: 0 })).rejects.toMatchObject(
          errorOf('AnswerConflict', 'was rewound since'),
        );
        await expect(saga.machine.answer({ ...answer, epoch: 2 })).rejects.toMatchObject({
          name: 'AnswerConflict',
          message: expect.not.stringContaining('was rewound since'),
        });
        const { answered } = await saga.machine.answer({ ...answer, epoch: 1 });
        expect(answered).toMatchObject({ by: 'ada' });
        return true;
      },
    });
    await saga.run();
    expect(epochs).toEqual([undefined, 1]);
    const { state } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPLETED', epoch: 1 });
    expect(saga.calls().filter((call) => call.startsWith('compensate'))).toEqual([
      `compensate ${SAGA}:2:undo`,
    ]);
  });

  test('being undone, cancelled, or rewound by somebody else is refused by name', async () => {
    const saga = await made({
      answer: async ({ step, operation }) => {
        if (operation === 'compensate') {
          await expect(saga.machine.rewind(rewind())).rejects.toMatchObject({ name: 'OperationRefused' });
        }
        return step === 'ship' ? rejected() : committed();
      },
    });
    await saga.run();
    await expect(saga.machine.rewind(rewind())).rejects.toMatchObject({ name: 'OperationRefused' });

    const other = await finished();
    await other.machine.rewind(rewind());
    await expect(other.machine.rewind(rewind({ requestId: 'rw-2' }))).rejects.toMatchObject(
      errorOf('OperationRefused', 'rw-1'),
    );
  });
});

describe('a rewind that stops', () => {
  const stopped = async () => {
    const broken = { is: true };
    const saga = await finished({
      answer: ({ operation, step }) =>
        operation === 'compensate' && step === 'book' && broken.is ? rejected() : committed(),
    });
    await saga.machine.rewind(rewind({ to: { stepId: 'look' }, guidance: 'Pay less.' }));
    await saga.machine.settle();
    const seen = await saga.seen();
    expect(seen.state).toMatchObject({ status: 'COMPENSATION_FAILED', rewind: { cursor: 1 } });
    expect(seen.observation.notCompensated.map(({ step }) => step)).toEqual(['book']);
    expect(seen.observation.advice).toContain('rewind stopped');
    expect(seen.isSound).toBe(true);
    expect(
      await saga.machine.rewind(rewind({ to: { stepId: 'look' }, guidance: 'Pay less.' })),
    ).toMatchObject({
      status: 'STOPPED',
    });
    return { ...saga, broken };
  };

  const repairs = ['retry', 'resolve', 'skip'] as const;
  test.each(repairs)('goes on with an operator who tells it to %s', async (action) => {
    const saga = await stopped();
    saga.broken.is = false;
    const stepId = action === 'retry' ? {} : { stepId: 'book', evidence: 'seen to' };
    await saga.machine.operate({ sagaId: SAGA, action, by: 'fin', ...stepId });
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPLETED', epoch: 1 });
    expect(observation.guidance?.text).toBe('Pay less.');
    expect(saga.calls().slice(-3)).toEqual([
      `execute ${SAGA}:1@1`,
      `execute ${SAGA}:2@1`,
      `execute ${SAGA}:3@1`,
    ]);
    expect(observation.notCompensated.map(({ step }) => step)).toEqual(action === 'skip' ? ['book'] : []);
  });

  test('is given up by a cancel, which undoes everything, also what had failed', async () => {
    const saga = await stopped();
    saga.broken.is = false;
    await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'fin', evidence: 'enough' });
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPENSATED', epoch: 0 });
    expect(observation.failed).toMatchObject({ error: { name: 'Cancelled' }, by: 'fin', reason: 'enough' });
    expect(observation).not.toHaveProperty('guidance');
    const asked = rewind({ to: { stepId: 'look' }, guidance: 'Pay less.' });
    expect(await saga.machine.rewind(asked)).toMatchObject({ status: 'CANCELLED' });
  });

  test('a cancel calls the compensator that failed again, and when it fails again, an operator has it', async () => {
    const saga = await stopped();
    const before = saga.calls().length;
    await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'fin' });
    await saga.machine.settle();
    expect(saga.calls().slice(before)).toContain(`compensate ${SAGA}:2:undo`);
    expect((await saga.seen()).state.status).toBe('COMPENSATION_FAILED');
    saga.broken.is = false;
    await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'fin' });
    await saga.machine.settle();
    const { state } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPENSATED', epoch: 0 });
  });

  test('a cancel while it undoes goes on to the beginning', async () => {
    let cancelled = false;
    const saga = await finished({
      answer: async ({ operation }) => {
        if (operation === 'compensate' && !cancelled) {
          cancelled = true;
          await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'fin' });
        }
        return committed();
      },
    });
    await saga.machine.rewind(rewind({ to: { steps: 1 } }));
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.failed).toMatchObject({ error: { name: 'Cancelled' }, by: 'fin' });
    expect(observation.compensated).toHaveLength(3);
  });
});

test.each(['before', 'after'] as const)('a death %s any write of a rewind converges', async (when) => {
  let points = 0;
  for (let at = 0; ; at += 1) {
    let left = Number.POSITIVE_INFINITY;
    const saga = await finished({
      storing: (store) => ({
        ...store,
        append: async (...move) => {
          left -= 1;
          if (left === -1 && when === 'before') throw new Crash('before the write');
          const outcome = await store.append(...move);
          if (left === -1) throw new Crash('after the write');
          return outcome;
        },
      }),
    });
    left = at;
    // The caller may be the one that dies. It asks again.
    const asked = await saga.machine.rewind(rewind()).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
      return saga.machine.rewind(rewind());
    });
    expect(asked.status).toBe('UNDOING');
    await saga.machine.settle();
    const { state } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPLETED', epoch: 1 });
    const effects = saga.requests.filter(({ operation }) => operation === 'execute');
    expect(new Set(effects.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(6);
    if (left >= 0) break;
    points += 1;
  }
  expect(points).toBeGreaterThanOrEqual(6);
});

describe('a rewind that names what its plan said', () => {
  const APPROVED = { id: 'ship', tool: 'ship', arguments: {}, approval: { timeoutSeconds: 3600 } };
  const plan = {
    steps: [
      { id: 'pay', tool: 'pay', arguments: {} },
      { id: 'book', tool: 'book', arguments: {} },
      APPROVED,
      { id: 'again', tool: 'pay', arguments: {} },
    ],
  };
  test('is refused where the saga went on, and leads elsewhere by now', async () => {
    let planned: SagaRewind['planned'];
    const saga: Awaited<ReturnType<typeof made>> = await made({
      onAwait: async () => {
        const [before] = (await saga.machine.rewind(rewind({ dryRun: true }))).sagas;
        planned = { epoch: before?.epoch ?? -1, after: before?.after ?? null };
        await saga.machine.answer({ sagaId: SAGA, stepId: 'ship', decision: 'approve', by: 'rita' });
        return true;
      },
    });
    await saga.machine.start({ sagaId: SAGA, plan, input: {}, requestedBy: 'me' });
    await saga.machine.settle();
    expect(planned).toEqual({ epoch: 0, after: null });
    await expect(saga.machine.rewind(rewind({ planned }))).rejects.toMatchObject(
      errorOf('OperationConflict', /after step book by now, and not to its beginning\. Nothing was changed/),
    );
    expect(saga.calls().filter((call) => call.startsWith('compensate'))).toEqual([]);
  });

  test('is refused where somebody rewound it since, and is the same request when it is sent again', async () => {
    const saga = await finished();
    const planned = { epoch: 0, after: 'pay' };
    const first = rewind({ planned });
    await saga.machine.rewind(first);
    await saga.machine.settle();
    await expect(saga.machine.rewind(rewind({ requestId: 'other', planned }))).rejects.toMatchObject(
      errorOf('OperationConflict', 'was rewound since'),
    );
    expect(await saga.machine.rewind(first)).toMatchObject({ status: 'REWOUND' });
    const now = rewind({ requestId: 'now', planned: { epoch: 1, after: 'pay' } });
    expect(await saga.machine.rewind(now)).toMatchObject({ status: 'UNDOING' });
  });
});
