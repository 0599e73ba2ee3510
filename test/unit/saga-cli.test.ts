/** `walkback saga` and `walkback tool call`: what each asks, and what is shown of a saga. */
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/recording-app.ts';

const moved = { sagaId: 'r1', status: 'COMPENSATING' };
const env = { USER: 'ada' };

const SEEN = {
  sagaId: 'r1',
  status: 'COMPENSATION_FAILED',
  committed: [{ step: 'booking', tool: 'post', externalRef: 'je-1' }],
  compensated: [{ step: 'refund', tool: 'issue_refund', externalRef: 're_1' }],
  notCompensated: [
    {
      step: 'booking',
      tool: 'post',
      externalRef: 'je-1',
      reason: `compensation failed: ${'long words '.repeat(20)}`,
    },
  ],
  failed: { step: 'confirm', tool: 'mail', error: { name: 'Refused', message: 'no' }, outcome: 'rejected' },
  advice: 'Report the references.',
};

describe('walkback saga', () => {
  test.each([
    [
      ['cancel', 'r1', '--reason', 'why'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'cancel', by: 'ada', evidence: 'why' },
    ],
    [['retry', 'r1'], 'walkback-operate-saga', { sagaId: 'r1', action: 'retry', by: 'ada' }],
    [
      ['resolve', 'r1', 'booking', '--evidence', 'JE 7'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'resolve', stepId: 'booking', by: 'ada', evidence: 'JE 7' },
    ],
    [
      ['skip', 'r1', 'booking', '--reason', 'small'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'skip', stepId: 'booking', by: 'ada', evidence: 'small' },
    ],
    [
      ['undo', 'r1', '--yes', '--accept-residue', '--reason', 'wrong order'],
      'walkback-operate-saga',
      { sagaId: 'r1', action: 'undo', by: 'ada', evidence: 'wrong order', acceptResidue: true },
    ],
    [
      ['start', 'refund@2', '--id', 'r1', '--input', '{"a":1}'],
      'walkback-start-saga',
      { sagaId: 'r1', definition: { name: 'refund', version: '2' }, input: { a: 1 }, requestedBy: 'ada' },
    ],
    [
      ['start', '--interactive', '--idle', '600', '--on-idle', 'ask', '--allow', 'mail', '--id', 'r1'],
      'walkback-start-saga',
      {
        sagaId: 'r1',
        interactive: { onIdle: 'ask', idleTimeoutSeconds: 600, allowIrreversible: ['mail'] },
        input: {},
        requestedBy: 'ada',
      },
    ],
    [
      ['park', 'r1', '--summary', 'half of it', '--session', 's-1', '--request', 'park-1'],
      'walkback-park-saga',
      { sagaId: 'r1', summary: 'half of it', sessionId: 's-1', requestId: 'park-1' },
    ],
    [
      ['park', '--summary', 'half of it', '--session', 's-1'],
      'walkback-park-saga',
      { summary: 'half of it', sessionId: 's-1', requestId: expect.stringMatching(/^park-/) as string },
    ],
    [['resume', 'r1'], 'walkback-operate-saga', { sagaId: 'r1', action: 'resume', by: 'ada' }],
    [
      ['close', 'r1', '--outcome', 'unwind', '--reason', 'why'],
      'walkback-close-saga',
      { sagaId: 'r1', outcome: 'unwind', reason: 'why' },
    ],
  ])('%j', async (argv, name, input) => {
    const answers = { [name]: { ...moved, sagas: [moved], warnings: [] } };
    const { calls, failure } = await runCommand(['saga', ...argv], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls).toEqual([{ name, input }]);
  });

  test.each([
    ['--interactive', [], 'walkback saga submit r1 STEP --tool TOOL'],
    ['--plan', ['{"steps":[]}'], 'walkback saga watch r1'],
    ['refund', [], 'walkback saga watch r1'],
  ])('start %s says what comes next', async (what, more, next) => {
    const answers = { 'walkback-start-saga': { ...moved, warnings: [] } };
    const { stderr } = await runCommand(['saga', 'start', what, ...more, '--id', 'r1'], { answers, env });
    expect(stderr).toContain(`next  ${next}`);
  });

  test('submit sends one step and shows what became of it', async () => {
    const step = { stepId: 'one', status: 'rejected', error: { name: 'Refused', message: 'no such order' } };
    const warnings = ['1 irreversible step stands: if this saga is unwound, that stays.'];
    const { calls, stdout, stderr, failure } = await runCommand(
      ['saga', 'submit', 'r1', 'one', '--tool', 'pay@2', '--arguments', '{"amount":4}', '--message', 'm-1'],
      { answers: { 'walkback-submit-step': { step, warnings } }, env },
    );
    expect(failure).toMatchObject({ name: 'Refused', exitCode: 1 });
    const input = { sagaId: 'r1', stepId: 'one', tool: 'pay', version: '2', arguments: { amount: 4 } };
    expect(calls).toEqual([
      {
        name: 'walkback-submit-step',
        input: { ...input, waitSeconds: 60, observe: false, messageId: 'm-1' },
      },
    ]);
    expect(stdout).toContain('rejected, nothing happened');
    expect(stdout).toContain('Refused: no such order');
    expect(stderr).toContain('1 irreversible step stands');
  });

  test('tool call is one call under the id of its request', async () => {
    const answer = {
      sagaId: 'call-1',
      step: { stepId: 'call', status: 'committed', result: 1 },
      warnings: [],
    };
    const { calls, stdout } = await runCommand(
      ['tool', 'call', 'pay@2', '--request', 'r', '--arguments', '{"amount":4}', '--allow-irreversible'],
      { answers: { 'walkback-call-tool': answer }, env },
    );
    const input = { requestId: 'r', tool: 'pay', version: '2', arguments: { amount: 4 }, waitSeconds: 60 };
    expect(calls).toEqual([
      { name: 'walkback-call-tool', input: { ...input, requestedBy: 'ada', allowIrreversible: true } },
    ]);
    expect(stdout).toContain('done');
  });

  test.each([
    ['submit', ['saga', 'submit', 'r1', 'one', '--tool', 'pay'], 'walkback-submit-step'],
    ['tool call', ['tool', 'call', 'pay', '--request', 'r'], 'walkback-call-tool'],
  ])('%s gives the call and what takes it back deadlines of their own', async (_, argv, name) => {
    const answers = { [name]: { sagaId: null, step: { stepId: 'one', status: 'committed' }, warnings: [] } };
    const own = ['--timeout', '120', '--undo-timeout', '90'];
    const { calls } = await runCommand([...argv, ...own], { answers, env });
    expect(calls[0]?.input).toMatchObject({ timeoutSeconds: 120, compensation: { timeoutSeconds: 90 } });
    const { failure } = await runCommand([...argv, '--timeout', '901'], { answers, env });
    expect(failure).toMatchObject({ exitCode: 2 });
  });

  test('submit refuses arguments that are no object, before it calls anything', async () => {
    const argv = ['saga', 'submit', 'r1', 'one', '--tool', 'pay', '--arguments', '[1]'];
    const { calls, failure } = await runCommand(argv, { env });
    expect(failure).toMatchObject({ name: 'InvalidInput' });
    expect(calls).toEqual([]);
  });

  const awaiting = {
    kind: 'approval',
    step: 'refund',
    tool: 'issue_refund',
    version: '1.0.0',
    arguments: { amount: 500_000, note: 'x'.repeat(5000) },
    argumentsHash: 'h',
    until: '2026-01-02T10:00:00.000Z',
    prompt: 'Refund $5?',
    promptBy: 'agent',
  };
  const WAITING = { ...SEEN, status: 'AWAITING', notCompensated: [], awaiting };

  test.each([
    [['approve', 'r1', 'refund', '--note', 'ok'], { decision: 'approve', by: 'ada', note: 'ok' }],
    [['reject', 'r1', 'refund', '--by', 'bob'], { decision: 'reject', by: 'bob' }],
  ])('%j, and shows what that was about', async (argv, input) => {
    const answers = { 'walkback-describe-saga': WAITING, 'walkback-answer': moved };
    const { calls, failure, stdout } = await runCommand(['saga', ...argv], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls).toEqual([
      { name: 'walkback-describe-saga', input: { sagaId: 'r1' } },
      { name: 'walkback-answer', input: { sagaId: 'r1', stepId: 'refund', ...input } },
    ]);
    expect(stdout).toContain('amount: 500000');
  });

  test('a second approval says who gave the first, and when', async () => {
    const answered = { decision: 'approve', by: 'bob', at: '2026-01-01T00:00:00.000Z' };
    const answers = {
      'walkback-describe-saga': { ...WAITING, awaiting: null },
      'walkback-answer': { ...moved, answered },
    };
    const { stdout } = await runCommand(['saga', 'approve', 'r1', 'refund'], { answers, env });
    expect(stdout).toContain('approved before, by bob at 2026-01-01T00:00:00.000Z');
  });

  test('show says what is to be approved and who wrote the question, within the width', async () => {
    const answers = { 'walkback-describe-saga': WAITING };
    const { stdout } = await runCommand(['saga', 'show', 'r1'], { answers, env });
    expect(stdout).toContain('issue_refund@1.0.0');
    expect(stdout).toContain('amount: 500000');
    expect(stdout).toContain('the agent wrote: Refund $5?');
    expect(stdout).toContain('cut; saga show --json has all of it');
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('resolve and skip need words, and somebody who says them', async () => {
    expect((await runCommand(['saga', 'resolve', 'r1', 'booking'], { env })).failure).toMatchObject({
      exitCode: 2,
    });
    expect((await runCommand(['saga', 'retry', 'r1'], {})).failure).toMatchObject({ name: 'InvalidInput' });
  });

  test('show lists what remains within the width, and watch fails on it', async () => {
    const answers = { 'walkback-describe-saga': SEEN };
    const shown = await runCommand(['saga', 'show', 'r1'], { answers, env });
    expect(shown.failure).toBeUndefined();
    expect(shown.stdout).toContain('✖ booking post  je-1');
    expect(shown.stdout).toContain('↩ refund issue_refund  re_1');
    for (const line of shown.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const watched = await runCommand(['saga', 'watch', 'r1'], { answers, env });
    expect(watched.failure).toMatchObject({ name: 'CompensationFailed', exitCode: 1 });
    expect(watched.stdout).toBe(shown.stdout);
  });
});
