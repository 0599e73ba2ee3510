/** `walkback saga undo` and `walkback rewind` of a saga: what is taken back, what stands, and what is asked before. */
import { describe, expect, test } from 'vitest';
import type { Run } from '../../cli/app.ts';
import { sagaQuestion } from '../../cli/saga-question.ts';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };

const notAsked = () => Promise.reject(new Error('not asked'));
const NO_SANDBOXES = {
  createOver: notAsked,
  create: notAsked,
  run: notAsked,
  places: notAsked,
  kill: notAsked,
};

describe('walkback saga', () => {
  test('undo shows what is taken back and what stands, and asks before it does anything', async () => {
    const plan = {
      undo: [{ step: 'book', tool: 'post', externalRef: 'je-1', partly: true }],
      stands: [{ step: 'confirm', tool: 'mail', externalRef: null, reason: 'irreversible' }],
    };
    const answers = {
      'walkback-operate-saga': { sagaId: 'r1', status: 'COMPLETED', plan },
      'walkback-describe-saga': { sagaId: 'r1', status: 'COMPLETED' },
    };
    const planned = await runCommand(['saga', 'undo', 'r1', '--dry-run'], { answers, env });
    expect(planned.calls.map(({ input }) => input)).toEqual([
      { sagaId: 'r1', action: 'undo', by: 'ada', dryRun: true },
    ]);
    expect(planned.stdout).toContain('↩ book post  je-1  a part only');
    expect(planned.stdout).toContain('✖ confirm mail  no reference  irreversible');
    const asked = await runCommand(['saga', 'undo', 'r1'], { answers, env, typed: 'no\n' });
    expect(asked.failure).toMatchObject({ name: 'NotConfirmed' });
    expect(asked.calls.filter(({ name }) => name === 'walkback-operate-saga')).toHaveLength(1);
  });

  test.each([
    ['undo', 'walkback-operate-saga', ['saga', 'undo', 'r1']],
    ['rewind', 'walkback-rewind', ['rewind', '--saga', 'r1', '--to', 'refund', '--request', 'rw']],
  ])('%s: who lets something stand accepts what the plan named', async (_, name, argv) => {
    const plan = {
      undo: [],
      stands: [{ step: 'confirm', tool: 'mail', externalRef: null, reason: 'irreversible' }],
    };
    const told = {
      sagaId: 'r1',
      requestId: 'rw',
      status: 'PLANNED',
      plan,
      sagas: [{ sagaId: 'r1', status: 'COMPLETED', epoch: 0, after: 'refund', plan }],
      residue: 'now',
    };
    const answers = { [name]: told, 'walkback-describe-saga': { sagaId: 'r1' } };
    const acts = async (more: string[], typed?: string) => {
      const { calls, stdout } = await runCommand([...argv, ...more], {
        answers,
        env,
        ...(typed === undefined ? {} : { typed }),
      });
      return { stdout, input: calls.findLast((call) => call.name === name)?.input };
    };
    const accepting = ['--accept-residue', '--reason', 'it may stay'];
    expect((await acts(accepting, 'yes\n')).input).toMatchObject({
      acceptResidue: true,
      residue: 'now',
      [name === 'walkback-rewind' ? 'reason' : 'evidence']: 'it may stay',
    });
    const named = await acts([...accepting, '--residue', 'before', '--yes']);
    expect(named.input).toMatchObject({ residue: 'before' });
    expect((await acts([...accepting, '--yes'])).input).not.toHaveProperty('residue');
    expect((await acts(['--dry-run'])).stdout).toContain('--accept-residue --residue now --reason "..."');
    for (const more of [['--yes'], ['--yes', '--reason', ' ']]) {
      const { calls, failure } = await runCommand([...argv, '--accept-residue', ...more], {
        answers,
        env,
      });
      expect(failure).toMatchObject({ name: 'InvalidInput', hint: expect.stringContaining('--reason') });
      expect(calls).toEqual([]);
    }
  });

  test('the question names the session and the directory whose work it is', async () => {
    const ask = (session: object | undefined, timeline: unknown, mounts: Record<string, string> = {}) =>
      sagaQuestion(
        {
          invoke: (async (name: string) => {
            if (name === 'walkback-describe-saga') return { sagaId: 'r1', session };
            if (timeline instanceof Error) throw timeline;
            return timeline;
          }) as Run['invoke'],
          sandboxes: {
            ...NO_SANDBOXES,
            places: async () => ({ rootfs: '/data/wb1/', mounts }),
          },
        },
        'Undo',
        'r1',
      );
    const timeline = { session: { sandboxId: 'wb1', projectsRoot: '/home/me/shop' } };
    const mounts = { '/home/me/shop': '/home/me/shop' };
    expect(await ask(undefined, timeline)).toBe('Undo saga r1?');
    expect(await ask({ sessionId: 's1' }, timeline, mounts)).toBe(
      'Undo saga r1 of session s1 in /home/me/shop?',
    );
    expect(await ask({ sessionId: 's1' }, new Error('expired'))).toBe('Undo saga r1 of session s1?');
  });

  const rewound = (status: string, plan: unknown = { undo: [], stands: [] }) => ({
    requestId: 'rw',
    status,
    sagas: [{ sagaId: 'r1', status: 'COMPENSATING', epoch: 0, after: 'refund', plan }],
  });

  test('rewind shows what goes back, asks, then says how far it is', async () => {
    const plan = { undo: [{ step: 'book', tool: 'post', externalRef: 'je-1' }], stands: [] };
    const told = (input: { dryRun?: boolean }) =>
      input.dryRun === true ? rewound('PLANNED', plan) : rewound('REWOUND');
    const argv = ['rewind', '--saga', 'r1', '--to', 'refund', '--guidance', 'Ask first.', '--request', 'rw'];
    const { calls, stdout, stderr } = await runCommand(argv, {
      answers: { 'walkback-rewind': told, 'walkback-describe-saga': { sagaId: 'r1' } },
      env,
      typed: 'yes\n',
    });
    const input = {
      sagaId: 'r1',
      to: { stepId: 'refund' },
      scope: 'all',
      guidance: 'Ask first.',
      requestId: 'rw',
      by: 'ada',
    };
    expect(calls.map((call) => call.input)).toEqual([
      { ...input, dryRun: true },
      { sagaId: 'r1', subject: true },
      { ...input, planned: { epoch: 0, after: 'refund' }, waitSeconds: 20 },
    ]);
    expect(stderr).toContain('↩ book post  je-1');
    expect(stdout).toContain('Rewound to after step refund');
  });

  test('rewind needs one target, and says what to do when it stopped', async () => {
    const both = ['rewind', '--saga', 'r1', '--to', 'refund', '--steps', '2', '--yes'];
    expect((await runCommand(both, { env })).failure).toMatchObject({ name: 'InvalidInput' });
    const stopped = await runCommand(['rewind', '--saga', 'r1', '--steps', '2', '--yes'], {
      answers: { 'walkback-rewind': rewound('STOPPED') },
      env,
    });
    expect(stopped.failure?.hint).toContain('walkback saga retry r1');
    const wait = ['rewind', '--saga', 'r1', '--steps', '2', '--plan', '{"steps": []}', '--timeout', '0'];
    const undoing = await runCommand([...wait, '--request', 'rw', '--yes'], {
      answers: { 'walkback-rewind': rewound('UNDOING') },
      env,
    });
    expect(undoing.failure?.hint).toContain(
      `walkback rewind --saga r1 --steps 2 --plan '{"steps": []}' --request rw --by ada --yes goes on`,
    );
  });

  test.each([
    ['a saga and a session', ['--saga', 'r1', '--session', 's', '--steps', '1']],
    ['a saga and the epoch of a session', ['--saga', 'r1', '--steps', '1', '--epoch', '2']],
    ['a session and a number of steps', ['--session', 's', '--steps', '1']],
    ['a session and other steps', ['--session', 's', '--to', 'm', '--plan', '{"steps":[]}']],
    ['no place to go to', ['--session', 's']],
  ])('rewind refuses %s, and asks nobody', async (_, words) => {
    const { failure, calls } = await runCommand(['rewind', ...words, '--yes'], { env });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(calls).toEqual([]);
  });

  test('rewind asks nobody about a saga that would be refused, or whose rewind is over', async () => {
    const stands = [{ step: 'mail', tool: 'mail', externalRef: null, reason: 'irreversible' }];
    const ask = (told: unknown) =>
      runCommand(['rewind', '--saga', 'r1', '--steps', '1'], {
        answers: { 'walkback-rewind': () => told },
        env,
      });
    const refused = await ask(rewound('PLANNED', { undo: [], stands }));
    expect(refused.failure).toMatchObject({ name: 'PointOfNoReturn' });
    expect(refused.calls).toHaveLength(1);
    const cancelled = await ask(rewound('CANCELLED'));
    expect(cancelled.failure).toMatchObject({ name: 'Cancelled' });
    expect(cancelled.calls).toHaveLength(1);
  });
});
