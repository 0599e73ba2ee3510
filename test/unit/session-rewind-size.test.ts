/** What a rewind tells of a session whose sagas did more than an answer has room for. */
import { expect } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { plannedRewind, whatGoesBack } from '../../cli/view/rewind-view.ts';
import type { RewoundSaga } from '../../contract/rewind.ts';
import { MIB } from '../../contract/sizes.ts';
import { undoneIn } from '../../core/rewind/count-effects.ts';
import { fittingSagas } from '../../core/rewind/fit-sagas.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { SESSION } from '../support/fakes/stage.ts';
import { inTurn } from '../support/sampled-test.ts';
import { rewindStage } from '../support/session-rewind.ts';

const test = inTurn('session-rewind-size');

const EFFECTS = 100;

const step = (id: string, wide = 500) => ({ step: id, tool: 'pay', externalRef: '漢'.repeat(wide) });

const saga = (sagaId: string): RewoundSaga => ({
  sagaId,
  status: 'COMPLETED',
  epoch: 0,
  after: null,
  plan: {
    undo: Array.from({ length: EFFECTS }, (_, n) => step(`${sagaId}-${n}`)),
    stands: [{ ...step(`${sagaId}-mail`), reason: 'irreversible' }],
  },
});

test('effects for which there is no room are counted, and what stands is told before what is taken back', () => {
  const sagas = Array.from({ length: 40 }, (_, n) => saga(`g${n}`));
  const told = fittingSagas(sagas);
  expect(jsonBytes(told)).toBeLessThan(4.1 * MIB);
  expect(told).not.toHaveProperty('sagasNotListed');
  expect(told.sagas.map(({ sagaId }) => sagaId)).toEqual(sagas.map(({ sagaId }) => sagaId));
  expect(told.sagas[0]?.plan).toEqual(sagas[0]?.plan);
  expect(told.sagas.at(-1)?.plan).toEqual({
    undo: [],
    undoNotListed: EFFECTS,
    stands: sagas.at(-1)?.plan.stands,
  });
  const answer = { requestId: 'rw', status: 'PLANNED' as const, ...told };
  expect(whatGoesBack(answer, 'effects', '')).toBe('undo 4000 effects of 40 sagas (40 effects will stand)');
  const text = plannedRewind(answer, { sessionId: 's', to: 'm1', paint: createPaint(false), width: 80 });
  expect(text).toContain(`${EFFECTS} more are taken back`);
});

test('what was let stand before is counted too, and named with what stands', () => {
  const letStand = [{ ...step('mail', 5), reason: 'skipped by an operator: kept' }];
  const few = { ...saga('few'), plan: { undo: [], stands: [], letStand } };
  const sagas = [few, ...Array.from({ length: 40 }, (_, n) => saga(`g${n}`))];
  expect(fittingSagas(sagas).sagas[0]?.plan).toEqual(few.plan);
  const many = Array.from({ length: 4000 }, (_, n) => ({ ...step(`s${n}`), reason: 'kept' }));
  const told = fittingSagas([{ ...few, plan: { ...few.plan, letStand: many } }]).sagas[0]?.plan;
  expect((told?.letStand?.length ?? 0) + (told?.letStandNotListed ?? 0)).toBe(many.length);
  expect(told?.letStandNotListed).toBeGreaterThan(0);
  const answer = { requestId: 'rw', status: 'PLANNED' as const, ...fittingSagas([few]) };
  const text = plannedRewind(answer, { sessionId: 's', to: 'm1', paint: createPaint(false), width: 80 });
  expect(text).toContain('mail pay');
  expect(text).toContain('stays: skipped by an operator: kept');
});

test('sagas for which there is no room are counted, and one that stops the rewind is told before the others', () => {
  const sagas = Array.from({ length: 14_000 }, (_, n) => ({
    sagaId: `${n}-${'g'.repeat(150)}`,
    epoch: 0,
    after: null,
    plan: { undo: [step('a', 50), step('b', 50)], stands: [] },
    status: n === 13_999 ? ('COMPENSATION_FAILED' as const) : ('COMPLETED' as const),
  }));
  const { sagas: told, sagasNotListed } = fittingSagas(sagas);
  expect(jsonBytes(told)).toBeLessThan(5 * MIB);
  expect(told.at(-1)).toMatchObject({ status: 'COMPENSATION_FAILED' });
  const left = sagas.length - told.length;
  expect(left).toBeGreaterThan(0);
  expect(sagasNotListed).toEqual({ sagas: left, undo: 2 * left, stands: 0 });
});

test('the plan of a rewind and how far it is fit an answer', async () => {
  const session = await rewindStage({
    answer: () => ({ Payload: { outcome: 'committed', result: {}, externalRef: '\u0001'.repeat(500) } }),
  });
  const steps = Array.from({ length: 700 }, (_, n) => ({ id: `pay-${n}`, tool: 'pay', arguments: {} }));
  for (const sagaId of ['one', 'other']) {
    const start = { sagaId, plan: { steps }, input: {}, requestedBy: 'me' };
    await session.machine.start({ ...start, sessionId: SESSION, messageId: 'm2' });
  }
  await session.machine.settle();
  for (const dryRun of [true, false]) {
    const answer = await session.rewind({ dryRun });
    expect(answer.status).toBe(dryRun ? 'PLANNED' : 'UNDOING');
    expect(jsonBytes(answer)).toBeLessThan(4.5 * MIB);
    // Two effects of the stage's own saga came after the message, too.
    expect(undoneIn(answer)).toBe(2 * steps.length + 2);
  }
});
