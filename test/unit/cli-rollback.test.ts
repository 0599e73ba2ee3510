/** `walkback rollback`, `revert` and `merge`: the plan, the question, the calls, and what is said of them. */
import { describe, expect, test, vi } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import { timeline } from '../support/listed-timeline.ts';
import { runCommand } from '../support/recording-app.ts';

const ROLLED_BACK = {
  status: 'APPLIED',
  checkpointId: 'cp-00000002-0badcafe',
  epoch: 2,
  undoCheckpointId: 'cp-00000005-0badcafe',
  repositories: [{ path: 'api', written: 2, deleted: 1, action: 'restored' }],
  discardedMessageIds: ['msg-3'],
  trimAfterMessageId: 'msg-2',
  warnings: [],
};

const HOST = {
  head: {
    from: { kind: 'branch', branch: 'topic', commit: '2'.repeat(40) },
    to: { kind: 'branch', branch: 'main', commit: '1'.repeat(40) },
  },
  branches: [{ name: 'topic', from: '2'.repeat(40), to: null, commitsLeft: 2 }],
  index: { entries: 1 },
  operation: { from: 'merge', to: null },
};

describe('walkback rollback', () => {
  test('goes to a message with --yes, and says how to undo it', async () => {
    const { calls, stdout } = await runCommand(
      ['rollback', '-s', 's', '--to', 'msg-2', '--yes', '--request', 'r-1', '--data', '/my data'],
      { answers: { 'walkback-rollback': ROLLED_BACK } },
    );
    expect(calls.map(({ input }) => input)).toEqual([
      { sessionId: 's', messageId: 'msg-2', requestId: 'r-1' },
    ]);
    expect(stdout).toContain("undo  walkback --data '/my data' undo --session s");
  });

  test('takes a checkpoint id as it is, and finds a short one on a later page of the timeline', async () => {
    const full = await runCommand(['rollback', '-s', 's', '--to', 'cp-00000002-0badcafe', '-y', '--json'], {
      answers: { 'walkback-rollback': ROLLED_BACK },
    });
    expect(full.calls).toMatchObject([{ input: { checkpointId: 'cp-00000002-0badcafe' } }]);
    const short = await runCommand(['rollback', '-s', 's', '--to', 'cp-2', '-y', '--json'], {
      answers: {
        'walkback-timeline': timeline([{ seq: 2, checkpointId: 'cp-00000002-0badcafe' }]),
        'walkback-rollback': ROLLED_BACK,
      },
    });
    expect(short.calls[1]).toMatchObject({ input: { checkpointId: 'cp-00000002-0badcafe' } });
    expect(JSON.parse(short.stdout)).toMatchObject({ status: 'APPLIED', undoCommand: expect.any(String) });
  });

  test('only plans with --dry-run', async () => {
    const { calls, stdout } = await runCommand(['rollback', '-s', 's', '--to', 'msg-2', '--dry-run'], {
      answers: { 'walkback-rollback': { ...ROLLED_BACK, status: 'PLANNED', undoCheckpointId: null } },
    });
    expect(calls).toMatchObject([{ input: { dryRun: true } }]);
    expect(stdout).toContain('Plan: back to msg-2');
  });

  test('of some paths names them and the checkpoint that they come from, and what stays', async () => {
    const words = ['rollback', '-s', 's', '--to', 'msg-1', '--path', 'api/a', '--path', 'web'];
    const made = { ...ROLLED_BACK, checkpointId: 'cp-00000007-0badcafe', pathsFrom: 'cp-00000001-0badcafe' };
    const plan = { ...made, status: 'PLANNED', undoCheckpointId: null };
    const planned = await runCommand([...words, '--dry-run'], { answers: { 'walkback-rollback': plan } });
    expect(planned.stdout).toContain('Plan: api/a, web as at msg-1 cp-00000001-0badcafe; all else stays\n');
    const done = await runCommand([...words, '--yes'], { answers: { 'walkback-rollback': made } });
    expect(done.stdout).toContain(
      '✔ api/a, web are as at msg-1 cp-00000001-0badcafe; all else stays. Now cp-00000007-0badcafe, epoch 2.\n',
    );
    expect(done.stdout).not.toContain('Back at');
    // By its id it is named once.
    const one = ['rollback', '-s', 's', '--to', 'cp-00000001-0badcafe', '--path', 'api/a', '--yes'];
    expect((await runCommand(one, { answers: { 'walkback-rollback': made } })).stdout).toContain(
      '✔ api/a is as at cp-00000001-0badcafe; all else stays.',
    );
  });

  test('changes nothing when there is nobody to ask', async () => {
    const { calls, failure } = await runCommand(['rollback', '-s', 's', '--to', 'msg-2'], {
      answers: { 'walkback-rollback': { ...ROLLED_BACK, status: 'PLANNED', undoCheckpointId: null } },
    });
    expect(failure).toMatchObject({ exitCode: 2, hint: expect.stringContaining('--yes') });
    expect(calls).toMatchObject([{ input: { dryRun: true } }]);
    const json = await runCommand(['rollback', '-s', 's', '--to', 'msg-2', '--json']);
    expect(json.failure?.exitCode).toBe(2);
    expect(json.calls).toEqual([]);
  });

  test.each([
    ['a directory of this machine', { '/work': '/home/ada/shop' }, '/home/ada/shop'],
    ['a sandbox elsewhere', undefined, '/work of sandbox sb-1'],
  ])('asks by the name of %s, and takes no for an answer', async (_, mounts, where) => {
    const asked: string[] = [];
    using spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => asked.push(String(text)) > 0);
    const sandboxes = mounts && { places: async () => ({ rootfs: '/root', mounts }) };
    const { calls, failure, stderr } = await runCommand(['rollback', '-s', 's', '--to', 'msg-2'], {
      typed: 'n\n',
      answers: {
        'walkback-rollback': {
          ...ROLLED_BACK,
          status: 'PLANNED',
          repositories: [{ path: 'api', written: 0, deleted: 1, action: 'restored', host: HOST }],
        },
        'walkback-timeline': { session: { sandboxId: 'sb-1', projectsRoot: '/work' } },
      },
      ...(sandboxes && { sandboxes: sandboxes as unknown as LocalSandboxes }),
    });
    expect(spy).toHaveBeenCalled();
    expect(asked.join('')).toContain(`Roll back all repositories in ${where}? [y/N]`);
    expect(failure?.name).toBe('NotConfirmed');
    expect(calls.map(({ name }) => name)).toEqual(['walkback-rollback', 'walkback-timeline']);
    expect(stderr).toContain('HEAD: topic (222222222) to main (111111111)');
    expect(stderr).toContain('branch topic goes; 2 commits left behind');
    expect(stderr).toContain('index: 1 entry changed');
    expect(stderr).toContain('the merge in progress is left');
  });

  test.each([
    ['rollback', ['rollback', '-s', 's', '--to', 'msg-2']],
    ['revert', ['revert', 'msg-2', '-s', 's']],
    ['merge', ['merge', 'fork', '--into', 's']],
  ])(
    '%s does what was shown when the person says yes, and names the epoch for programs',
    async (name, words) => {
      using _ = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      const answers = {
        [`walkback-${name}`]: ({ dryRun }: { dryRun?: true }) =>
          dryRun === true
            ? { ...ROLLED_BACK, status: 'PLANNED', epoch: 4, ...(name === 'merge' && { from: FROM }) }
            : ROLLED_BACK,
        'walkback-timeline': { session: { sandboxId: 'sb-1', projectsRoot: '/work' } },
      };
      const FROM = { sessionId: 'fork', checkpointId: 'cp-00000003-0badcafe' };
      const epochs = async (more: string[], typed?: string) => {
        const { calls, stdout } = await runCommand([...words, ...more], { answers, ...(typed && { typed }) });
        const acts = calls.filter((call) => call.name === `walkback-${name}`);
        return { acts, epochs: acts.map(({ input }) => (input as { epoch?: number }).epoch), stdout };
      };
      const confirmed = await epochs([], 'y\n');
      expect(confirmed.epochs).toEqual([undefined, 4]);
      // Of a merge, also the work that comes.
      if (name === 'merge') {
        expect(confirmed.acts[1]?.input).toMatchObject({ fromCheckpointId: FROM.checkpointId });
      }
      expect((await epochs(['--epoch', '3'], 'y\n')).epochs[0]).toBe(3);
      expect((await epochs(['--epoch', '3', '--yes'])).epochs).toEqual([3]);
      expect((await epochs(['--yes'])).epochs).toEqual([undefined]);
      // People read no numbers that they do not need; a program has them in the answer.
      expect((await epochs(['--dry-run'])).stdout).not.toMatch(/--epoch|--checkpoint|--from-checkpoint/);
      expect(JSON.parse((await epochs(['--dry-run', '--json'])).stdout)).toMatchObject({ epoch: 4 });
      if (name === 'rollback') {
        // Of a message, also the checkpoint that was shown.
        const both = ['--epoch', '4', '--checkpoint', ROLLED_BACK.checkpointId];
        const later = await epochs([...both, '--yes']);
        const shown = { messageId: 'msg-2', checkpointId: ROLLED_BACK.checkpointId };
        expect(later.acts[0]?.input).toMatchObject(shown);
        expect(confirmed.acts[1]?.input).toMatchObject(shown);
        expect(confirmed.acts[0]?.input).not.toHaveProperty('checkpointId');
      } else if (name === 'merge') {
        const both = ['--epoch', '4', '--from-checkpoint', FROM.checkpointId];
        const later = await epochs([...both, '--yes']);
        expect(later.acts[0]?.input).toMatchObject({ epoch: 4, fromCheckpointId: FROM.checkpointId });
      }
    },
  );

  test('plans under its own request, and asks nobody about one that is done', async () => {
    const words = ['rollback', '-s', 's', '--to', 'msg-2', '--request', 'r-1'];
    const answers = { 'walkback-rollback': ROLLED_BACK };
    for (const more of [[], ['--dry-run']]) {
      const { calls, stdout, failure } = await runCommand([...words, ...more], { answers });
      expect(failure).toBeUndefined();
      expect(calls).toMatchObject([{ input: { requestId: 'r-1', dryRun: true } }]);
      expect(stdout).toContain('Back at msg-2');
    }
  });

  test('says on an interrupt what is under way and how to finish it, and not before anything is', async () => {
    const words = ['rollback', '-s', 's', '--to', 'msg-2', '--request', 'r-1', '--files-only'];
    const interrupt = async (more: string[]) => {
      const { signal, abort } = ((controller) => ({
        signal: controller.signal,
        abort: () => controller.abort(new CliError('Interrupted', 'Interrupted.')),
      }))(new AbortController());
      const never = (): Promise<never> => (abort(), Promise.withResolvers<never>().promise);
      const { failure } = await runCommand([...words, ...more], {
        signal,
        answers: { 'walkback-rollback': never },
      });
      return failure;
    };
    expect(await interrupt(['--yes'])).toMatchObject({
      exitCode: 130,
      message: expect.stringContaining('request r-1'),
      hint: 'walkback rollback --session s --to msg-2 --files-only --request r-1 --yes finishes it',
    });
    expect(await interrupt([])).toMatchObject({ exitCode: 130, message: 'Interrupted.' });
  });

  test('refuses a name that a message and a checkpoint share', async () => {
    const { failure, calls } = await runCommand(['rollback', '-s', 's', '--to', 'cp-2', '--yes'], {
      answers: {
        'walkback-timeline': timeline([
          { seq: 3, checkpointId: 'cp-00000003-0badcafe', messageId: 'cp-2' },
          { seq: 2, checkpointId: 'cp-00000002-0badcafe' },
        ]),
      },
    });
    expect(failure).toMatchObject({ name: 'InvalidInput' });
    expect(failure?.message).toContain('cp-00000003-0badcafe');
    expect(failure?.message).toContain('cp-00000002-0badcafe');
    expect(calls).toHaveLength(1);
  });

  test('refuses to go to now', async () => {
    const { failure } = await runCommand(['rollback', '-s', 's', '--to', 'now', '--yes']);
    expect(failure).toMatchObject({ name: 'InvalidInput' });
  });

  test('does not find a checkpoint that is not there', async () => {
    const { failure } = await runCommand(['rollback', '-s', 's', '--to', 'cp-9', '--yes'], {
      answers: { 'walkback-timeline': timeline([]) },
    });
    expect(failure).toMatchObject({ name: 'CheckpointNotFound', exitCode: 3 });
  });
});
