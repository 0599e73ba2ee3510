/** `walkback rewind`: the plan, the question, the calls, and how it ends. */
import { describe, expect, test, vi } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };
const WORDS = ['rewind', '-s', 's', '--to', 'msg-2', '--request', 'rw'];
const INPUT = { sessionId: 's', to: { messageId: 'msg-2' }, scope: 'all', requestId: 'rw', by: 'ada' };

const step = (name: string) => ({ step: name, tool: 'pay', externalRef: `re-${name}` });

const saga = (stands: { step: string; tool: string; externalRef: string; reason: string }[] = []) => ({
  sagaId: 'refunds',
  status: 'COMPLETED',
  epoch: 0,
  after: null,
  plan: { undo: [step('two'), step('one')], stands },
});

const FILES = {
  status: 'PLANNED',
  checkpointId: 'cp-00000002-0badcafe',
  undoCheckpointId: null,
  repositories: [{ path: 'api', action: 'restored', written: 1, deleted: 0 }],
  epoch: 1,
  discardedMessageIds: ['msg-3'],
  trimAfterMessageId: 'msg-2',
  warnings: [],
};
const APPLIED = { ...FILES, status: 'APPLIED', epoch: 3, undoCheckpointId: 'cp-00000005-0badcafe' };

const PLAN = {
  requestId: 'rw',
  status: 'PLANNED',
  epoch: 2,
  checkpointId: FILES.checkpointId,
  sagas: [saga()],
  files: FILES,
  trimAfterMessageId: 'msg-2',
};
const DONE = { ...PLAN, status: 'REWOUND', sagas: [], files: APPLIED, guidance: 'Ask first.' };

const asked = (input: { dryRun?: boolean }) => (input.dryRun === true ? PLAN : DONE);
const TIMELINE = { session: { sandboxId: 'sb-1', projectsRoot: '/work' }, checkpoints: [] };
const sandboxes = {
  places: async () => ({ rootfs: '/root', mounts: { '/work': '/home/ada/shop' } }),
} as unknown as LocalSandboxes;

describe('walkback rewind', () => {
  test('what it prints to be copied works where it worked', async () => {
    const words = [...WORDS, '--yes', '--data', '/my data'];
    const { stdout } = await runCommand(words, {
      answers: { 'walkback-rewind': DONE },
      env,
      sandboxes,
    });
    expect(stdout).toContain("undo  walkback --data '/my data' undo --session s\n");
  });

  test('shows the plan, asks by the name of the directory and the effects, then does it', async () => {
    const question: string[] = [];
    using spy = vi
      .spyOn(process.stderr, 'write')
      .mockImplementation((text) => question.push(String(text)) > 0);
    const { calls, stdout, stderr, failure } = await runCommand([...WORDS, '--guidance', 'Ask first.'], {
      answers: { 'walkback-rewind': asked, 'walkback-timeline': TIMELINE },
      env,
      sandboxes,
      typed: 'yes\n',
    });
    expect(spy).toHaveBeenCalled();
    expect(failure).toBeUndefined();
    const input = { ...INPUT, guidance: 'Ask first.' };
    expect(calls.filter(({ name }) => name === 'walkback-rewind').map((call) => call.input)).toEqual([
      { ...input, dryRun: true },
      { ...input, epoch: 2, to: { ...INPUT.to, checkpointId: PLAN.checkpointId }, waitSeconds: 20 },
    ]);
    expect(question.join('')).toContain(
      'Rewind session s: undo 2 effects of 1 saga, put back all repositories in /home/ada/shop, cut the conversation there? [y/N]',
    );
    expect(stderr).toContain('saga refunds  COMPLETED');
    expect(stderr).toContain('↩ two pay  re-two');
    expect(stderr).toContain('Plan: back to msg-2');
    expect(stdout).toContain('Rewound to msg-2');
    expect(stdout).toContain('guidance  Ask first.');
    expect(stdout).toContain('the conversation goes on after msg-2');
    expect(stdout).toContain('undo  walkback undo --session s');
  });

  test('only plans with --dry-run, and says what nothing takes back', async () => {
    const stands = [{ ...step('mail'), reason: 'irreversible' }];
    const { calls, stdout } = await runCommand([...WORDS, '--dry-run'], {
      answers: { 'walkback-rewind': { ...PLAN, sagas: [saga(stands)] } },
      env,
    });
    expect(calls).toMatchObject([{ input: { dryRun: true } }]);
    expect(stdout).toContain('✖ mail pay  re-mail  irreversible');
  });

  test('asks nobody about what would be refused, and says how it would not be', async () => {
    const stands = [{ ...step('mail'), reason: 'irreversible' }];
    const answers = {
      'walkback-rewind': { ...PLAN, sagas: [saga(stands)] },
      'walkback-timeline': TIMELINE,
    };
    const { calls, failure } = await runCommand(WORDS, { answers, env, typed: 'yes\n' });
    expect(failure).toMatchObject({ name: 'PointOfNoReturn', exitCode: 4 });
    expect(failure?.hint).toContain('--accept-residue');
    expect(calls).toHaveLength(1);
    const accepted = await runCommand([...WORDS, '--accept-residue', '--reason', 'old'], {
      answers,
      env,
      typed: 'no\n',
    });
    expect(accepted.failure).toMatchObject({ name: 'NotConfirmed', exitCode: 1 });
    expect(accepted.calls[0]).toMatchObject({ input: { acceptResidue: true, dryRun: true } });
  });

  test('who lets stand what nothing takes back accepts what the plan named, or a plan of before', async () => {
    const stands = [{ ...step('mail'), reason: 'irreversible' }];
    const plan = { ...PLAN, sagas: [saga(stands)], residue: 'now' };
    const answers = {
      'walkback-rewind': ({ dryRun }: { dryRun?: boolean }) => (dryRun === true ? plan : DONE),
      'walkback-timeline': TIMELINE,
    };
    const words = [...WORDS, '--accept-residue', '--reason', 'they have read it'];
    const accepted = async (argv: string[], typed?: string) => {
      const { calls } = await runCommand(argv, { answers, env, ...(typed === undefined ? {} : { typed }) });
      return calls.findLast(({ name }) => name === 'walkback-rewind')?.input;
    };
    expect(await accepted(words, 'yes\n')).toMatchObject({
      acceptResidue: true,
      residue: 'now',
      reason: 'they have read it',
      epoch: 2,
    });
    expect(await accepted([...words, '--residue', 'before', '--yes'])).toMatchObject({ residue: 'before' });
    expect(await accepted([...words, '--yes'])).not.toHaveProperty('residue');
    const shown = await runCommand([...WORDS, '--dry-run'], { answers, env });
    expect(shown.stdout).toContain('--accept-residue --residue now');
    const unfinished = await runCommand(words, {
      answers: {
        ...answers,
        'walkback-rewind': ({ dryRun }: { dryRun?: boolean }) =>
          dryRun === true ? plan : { ...DONE, status: 'STOPPED' },
      },
      env,
      typed: 'yes\n',
    });
    expect(unfinished.failure?.hint).toMatch(
      /--accept-residue --residue now --reason 'they have read it' --checkpoint \S+ --epoch 2/,
    );
  });

  test.each([
    [...WORDS, '--residue', 'now', '--yes'],
    ['rewind', '--saga', 's', '--steps', '1', '--residue', 'now', '--yes'],
    ['saga', 'undo', 's', '--residue', 'now', '--yes'],
  ])('%s %s: what a plan named is not accepted by naming it alone', async (...argv) => {
    const { failure, calls } = await runCommand(argv, { answers: { 'walkback-timeline': TIMELINE }, env });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(calls.filter(({ name }) => name !== 'walkback-timeline')).toEqual([]);
  });

  test.each([
    ['effects', { name: 'walkback-rewind', input: { ...INPUT, scope: 'effects', waitSeconds: 20 } }],
    [
      'conversation',
      { name: 'walkback-rewind', input: { ...INPUT, scope: 'conversation', waitSeconds: 20 } },
    ],
  ])('takes the scope %s and goes ahead with --yes', async (scope, call) => {
    const { calls, failure } = await runCommand([...WORDS, '--scope', scope, '--yes', '--json'], {
      answers: { 'walkback-rewind': DONE },
      env,
    });
    expect(failure).toBeUndefined();
    expect(calls).toEqual([call]);
  });

  test('of the files alone is refused: that is a rollback', async () => {
    const { failure, calls } = await runCommand([...WORDS, '--scope', 'files'], { env });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(calls).toEqual([]);
  });

  test('refuses a scope that there is not, --json without leave, and a place that is none', async () => {
    expect((await runCommand([...WORDS, '--scope', 'half'], { env })).failure?.exitCode).toBe(2);
    const json = await runCommand([...WORDS, '--json'], { env });
    expect(json.failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(json.calls).toEqual([]);
    const now = await runCommand(['rewind', '-s', 's', '--to', 'now', '--yes'], { env });
    expect(now.failure).toMatchObject({ name: 'InvalidInput' });
  });

  test('that stopped fails after it said what to repair and how to go on', async () => {
    const failed = { ...saga(), status: 'COMPENSATION_FAILED' };
    const { files: _, ...stopped } = { ...PLAN, status: 'STOPPED', sagas: [failed] };
    const { stdout, failure } = await runCommand([...WORDS, '--yes', '--guidance', 'Ask first.'], {
      answers: { 'walkback-rewind': stopped },
      env,
    });
    expect(stdout).toContain('files are untouched');
    expect(stdout).toContain('next  walkback saga retry refunds');
    const again =
      "walkback rewind --session s --to msg-2 --guidance 'Ask first.' --request rw --by ada --yes";
    expect(stdout).toContain(`then  ${again}`);
    expect(failure).toMatchObject({ name: 'CompensationFailed', exitCode: 1 });
    expect(failure?.hint).toContain(again);
  });

  test('that stopped before what nothing takes back says how it is let stand', async () => {
    const { files: _, ...stopped } = { ...PLAN, status: 'STOPPED' };
    const { stdout, failure } = await runCommand([...WORDS, '--yes'], {
      answers: { 'walkback-rewind': stopped },
      env,
    });
    expect(stdout).toContain('next  rewind again with --accept-residue');
    expect(stdout).not.toContain('walkback saga retry');
    expect(failure).toMatchObject({
      name: 'CompensationFailed',
      hint: expect.stringContaining('undo what is left'),
    });
  });

  test('repeats its request while effects are undone, and fails when the time is up', async () => {
    let now = 0;
    const { calls, failure, stdout } = await runCommand([...WORDS, '--yes', '--timeout', '30'], {
      answers: { 'walkback-rewind': { ...PLAN, status: 'UNDOING', files: undefined } },
      env,
      now: () => new Date((now += 5000)),
    });
    expect(calls.length).toBeGreaterThan(2);
    expect(new Set(calls.map(({ input }) => (input as { requestId: string }).requestId))).toEqual(
      new Set(['rw']),
    );
    expect(stdout).toContain('Still undoing');
    expect(failure).toMatchObject({ name: 'RewindUnfinished', exitCode: 5 });
  });

  test('asks nobody about one that is done, and shows what is left of one that is begun', async () => {
    const done = await runCommand(WORDS, { answers: { 'walkback-rewind': DONE }, env });
    expect(done.failure).toBeUndefined();
    expect(done.stdout).toContain('Rewound to msg-2');
    const begun = await runCommand(WORDS, {
      answers: {
        'walkback-rewind': { ...PLAN, status: 'UNDOING', files: undefined },
        'walkback-timeline': TIMELINE,
      },
      env,
      typed: 'n\n',
    });
    expect(begun.stderr).toContain('the rest of a rewind that is begun');
    expect(begun.failure?.name).toBe('NotConfirmed');
  });

  test('says on an interrupt which request goes on', async () => {
    const controller = new AbortController();
    const never = (): Promise<never> => {
      controller.abort(new CliError('Interrupted', 'Interrupted.'));
      return Promise.withResolvers<never>().promise;
    };
    const { failure } = await runCommand([...WORDS, '--yes', '--scope', 'effects'], {
      signal: controller.signal,
      answers: { 'walkback-rewind': never },
      env,
    });
    expect(failure).toMatchObject({
      exitCode: 130,
      hint: 'walkback rewind --session s --to msg-2 --scope effects --request rw --by ada --yes goes on with it',
    });
  });
});
