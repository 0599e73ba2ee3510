/** Commands that wait end with 0 only when what they were asked for is so (docs/cli.md, For programs). The answer is shown first. */
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };

const ticking = () => {
  let seconds = 0;
  return () => new Date(Date.UTC(2026, 0, 2) + 1000 * (seconds += 10));
};

const seen = (facts: object) => ({
  sagaId: 'r1',
  requestedBy: 'ada',
  createdAt: '2026-01-02T10:00:00.000Z',
  committed: [],
  compensated: [],
  notCompensated: [],
  advice: 'Report it.',
  ...facts,
});

const left = { step: 'pay', tool: 'pay', externalRef: null, reason: 'no' };
const awaiting = { step: 'pay', until: 'then', tool: 'pay', version: '1.0.0', arguments: {} };

describe('walkback saga watch', () => {
  test.each([
    ['it completed', { status: 'COMPLETED' }, 0],
    ['all of it is undone', { status: 'COMPENSATED' }, 0],
    ['a person has to approve', { status: 'AWAITING', awaiting }, 0],
    [
      'a person has to approve below',
      { status: 'RUNNING', awaitingBelow: [{ sagaId: 'c', ...awaiting }] },
      0,
    ],
    ['the agent has its turn', { status: 'RUNNING', interactive: { what: 'next-step' } }, 0],
    ['it was put aside', { status: 'PARKED', interactive: { what: 'parked' } }, 0],
    ['an effect could not be undone', { status: 'COMPENSATION_FAILED', notCompensated: [left] }, 1],
    ['what could not be undone was settled by hand', { status: 'COMPENSATION_FAILED' }, 0],
    ['it still runs', { status: 'RUNNING' }, 5],
    ['it still waits for its turn', { status: 'QUEUED' }, 5],
    ['it is still undone', { status: 'COMPENSATING' }, 5],
    ['it pauses', { status: 'PAUSED' }, 5],
    ['a step of it runs', { status: 'RUNNING', interactive: { what: 'step', step: 'pay' } }, 5],
  ])('%s', async (_, facts, exitCode) => {
    const answers = { 'walkback-describe-saga': seen(facts) };
    const { stdout, failure } = await runCommand(['saga', 'watch', 'r1', '--timeout', '30'], {
      answers,
      env,
      now: ticking(),
    });
    expect(stdout).toContain(`Saga r1  ${facts.status}`);
    expect(failure?.exitCode ?? 0).toBe(exitCode);
    if (exitCode === 5) {
      expect(failure).toMatchObject({ name: 'StillRunning', hint: 'walkback saga watch r1 waits again' });
    }
  });
});

describe('what walkback saga watch says of a compensation that failed', () => {
  const error = { name: 'Refused', message: 'no' };
  const outer = { ...left, step: 'outer', tool: 'saga', children: true, error };
  const below = { ...left, error, path: 'outer', sagaId: 'r1.outer' };
  const RESOLVE = 'walkback saga resolve r1 pay --evidence TEXT, or walkback saga skip r1 pay --reason TEXT';
  test.each([
    [
      'a compensator',
      [{ ...left, error }],
      '1 effect',
      'walkback saga retry r1, or resolve or skip each step',
    ],
    ['what nothing takes back', [left], '1 effect', RESOLVE],
    [
      'one of each',
      [left, { ...left, error }],
      '2 effects',
      'walkback saga retry r1, or resolve or skip each step',
    ],
    ['what may stay beside', [left, { ...left, step: 'kept', accepted: true }], '1 effect', RESOLVE],
    [
      'below a step',
      [outer, below],
      '1 effect',
      'walkback saga retry r1.outer, or resolve or skip each step',
    ],
    [
      'nothing takes back below',
      [outer, { ...below, error: undefined }],
      '1 effect',
      RESOLVE.replaceAll('r1', 'r1.outer'),
    ],
    [
      'only what it was not told',
      [outer],
      'What saga r1 ran',
      'walkback saga retry r1, or resolve or skip each step',
    ],
  ])('%s', async (_, notCompensated, what, hint) => {
    const answers = { 'walkback-describe-saga': seen({ status: 'COMPENSATION_FAILED', notCompensated }) };
    const { failure } = await runCommand(['saga', 'watch', 'r1'], { answers, env });
    expect(failure).toMatchObject({ message: `${what} could not be undone.`, hint, exitCode: 1 });
  });
});

describe('walkback saga submit, and walkback tool call', () => {
  const error = { name: 'TooLong', message: 'no more than 30 nights' };
  test.each([
    ['committed', {}, 0, undefined],
    ['rejected', { error }, 1, 'TooLong'],
    ['undone', { error: { name: 'ApprovalDeclined', message: 'no' } }, 4, 'ApprovalDeclined'],
    ['undone', {}, 4, 'Undone'],
    ['awaiting', {}, 5, 'StillRunning'],
    ['running', {}, 5, 'StillRunning'],
    ['failed', { error }, 1, 'CompensationFailed'],
  ])('a step that is %s with %j', async (status, facts, exitCode, name) => {
    const step = { stepId: 'pay', status, ...facts };
    const submitted = await runCommand(['saga', 'submit', 'r1', 'pay', '--tool', 'pay'], {
      answers: { 'walkback-submit-step': { step, warnings: [] } },
      env,
    });
    const called = await runCommand(['tool', 'call', 'pay', '--request', 'r'], {
      answers: { 'walkback-call-tool': { sagaId: 'call-1', step, warnings: [] } },
      env,
    });
    for (const { stdout, failure } of [submitted, called]) {
      expect(stdout).toContain('Step pay  ');
      expect(failure?.exitCode ?? 0).toBe(exitCode);
      expect(failure?.name).toBe(name);
    }
    if (status === 'awaiting') {
      expect(submitted.failure?.hint).toContain('walkback saga approve r1 pay');
      expect(called.failure?.hint).toContain('walkback saga approve call-1 pay');
    }
  });
});

test('walkback saga park fails when one of several could not be put aside', async () => {
  const sagas = [
    { sagaId: 'a', status: 'PARKED' },
    { sagaId: 'b', status: 'RUNNING', error: { name: 'StepInProgress', message: 'a step runs' } },
  ];
  const { stdout, failure } = await runCommand(['saga', 'park', '--session', 's1', '--summary', 'x'], {
    answers: { 'walkback-park-saga': { sagas, warnings: [] } },
    env,
  });
  expect(stdout).toContain('Saga a  PARKED');
  expect(failure).toMatchObject({ name: 'StepInProgress', exitCode: 4 });
});
