import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import type { DiscardedFork } from '../../contract/checkpoint-answers.ts';
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

const isPlan = (input: unknown): boolean => (input as { dryRun?: boolean }).dryRun === true;

const CHECKPOINT = {
  checkpointId: 'cp-00000002-0badcafe',
  seq: 2,
  epoch: 1,
  messageId: 'msg-1',
  complete: true,
  repositories: [{ path: 'api', changed: true, bundleBytes: 10 }],
  failures: [],
  skipped: [],
};

const timeline = (
  checkpoints: { seq: number; checkpointId: string; messageId?: string }[],
  cursor?: string,
) => ({
  session: {
    sessionId: 's',
    headSeq: 2,
    seq: 3,
    epoch: 1,
    status: 'active',
    projectsRoot: '/p',
    sandboxId: 'x',
  },
  checkpoints: checkpoints.map((checkpoint) => ({
    parentSeq: checkpoint.seq === 1 ? null : checkpoint.seq - 1,
    messageId: null,
    reason: 'manual',
    complete: true,
    repositories: [],
    failures: [],
    toolExecutionId: 't',
    createdAt: '2026-01-02T10:00:00Z',
    ...checkpoint,
  })),
  messages: [],
  ...(cursor === undefined ? {} : { cursor }),
});

describe('walkback session end', () => {
  const cleaned = {
    removed: {
      entries: [{ path: 'web/.agent-shadow/session-s', files: 1234, bytes: 5 * 1024 * 1024 }],
      files: 1234,
      bytes: 5 * 1024 * 1024,
    },
    kept: { entries: [{ path: '.agent-shadow/aside-s', files: 1, bytes: 4096 }], files: 1, bytes: 4096 },
  };
  const answers = {
    'walkback-timeline': timeline([]),
    'walkback-end-session': ({ dryRun }: { dryRun?: boolean }) => ({
      sessionId: 's',
      expiresAt: 1,
      status: dryRun === true ? 'PLANNED' : 'ENDED',
      cleaned,
    }),
  };

  test('says what is removed, and how much; a dry run says the same', async () => {
    const plan = await runCommand(['session', 'end', 's', '--dry-run'], { answers });
    const done = await runCommand(['session', 'end', 's'], { answers });
    const rows = (text: string) => text.slice(text.indexOf('1234 files'));
    expect(plan.stdout).toMatch(/would be removed from its sandbox: 1234 files, 5(\.0)? MiB/);
    expect(done.stdout).toMatch(/session-s +1234 files +5(\.0)? MiB\n[^]*stays[^]*aside-s +1 file /);
    expect(rows(done.stdout)).toBe(rows(plan.stdout));
    const json = await runCommand(['session', 'end', 's', '--dry-run', '--json'], { answers });
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'PLANNED', cleaned });
    expect(json.calls.at(-1)?.input).toEqual({ sessionId: 's', dryRun: true });
  });
});

describe('walkback session end --discard', () => {
  const found = (more: Partial<DiscardedFork> = {}): DiscardedFork => ({
    sandboxId: 'x',
    isRunning: true,
    changed: ['web'],
    uncaptured: [],
    leftOut: [],
    lastCheckpointId: null,
    ...more,
  });
  const answers = (seen: DiscardedFork, refusal?: Error) => ({
    'walkback-timeline': timeline([]),
    'walkback-end-session': ({ dryRun }: { dryRun?: boolean }) => {
      if (dryRun !== true && refusal !== undefined) return refusal;
      const lastCheckpointId = dryRun === true ? null : 'cp-00000009-0badcafe';
      const status = dryRun === true ? 'PLANNED' : 'ENDED';
      return { sessionId: 's', expiresAt: 1, status, discarded: { ...seen, lastCheckpointId } };
    },
  });
  const asked = (calls: { name: string; input: unknown }[]) =>
    calls.flatMap(({ name, input }) => (name === 'walkback-end-session' ? [input] : []));
  const discard = ['session', 'end', 's', '--discard'];

  test('shows what no checkpoint holds, asks, and says where it is then', async () => {
    const no = await runCommand(discard, { answers: answers(found()), typed: 'n\n' });
    expect(no.stderr).toMatch(/in 1 repository is in no checkpoint; it gets a last one[^]*web/);
    expect(no.failure).toMatchObject({ name: 'NotConfirmed' });
    expect(asked(no.calls)).toEqual([{ sessionId: 's', discard: true, dryRun: true }]);
    const yes = await runCommand(discard, { answers: answers(found()), typed: 'y\n' });
    expect(yes.failure).toBeUndefined();
    expect(yes.stdout).toContain('last work is in cp-00000009-0badcafe');
    expect(asked(yes.calls).at(-1)).toEqual({ sessionId: 's', discard: true });
  });

  test('asks nobody with --yes, and refuses where nobody can be asked', async () => {
    const told = await runCommand([...discard, '--yes'], { answers: answers(found()) });
    expect(asked(told.calls)).toEqual([{ sessionId: 's', discard: true }]);
    const mute = await runCommand(discard, { answers: answers(found()) });
    expect(mute.failure).toMatchObject({ name: 'InvalidInput' });
    const json = await runCommand([...discard, '--json'], { answers: answers(found()) });
    expect(json.failure).toMatchObject({ name: 'InvalidInput' });
    for (const { calls } of [mute, json]) expect(asked(calls).every((one) => isPlan(one))).toBe(true);
  });

  test('says aloud what it destroys with --drop-uncaptured', async () => {
    const seen = found({ uncaptured: [{ path: 'api/locked', reason: 'no access' }] });
    const { stdout, stderr } = await runCommand([...discard, '--drop-uncaptured'], {
      answers: answers(seen),
      typed: 'y\n',
    });
    expect(stderr).toMatch(/is destroyed:\n +web\n.*is destroyed:\n +api\/locked: no access/);
    expect(stdout).toMatch(/destroyed, because no checkpoint held it[^]*web\n +api\/locked/);
  });

  test('shows what cannot be captured, and ends as the refusal says', async () => {
    const seen = found({ uncaptured: [{ path: 'api/locked', reason: 'no access' }] });
    const refusal = Object.assign(new Error('not discarded'), { name: 'UncapturedWork' });
    const { stderr, failure } = await runCommand(discard, { answers: answers(seen, refusal), typed: '' });
    expect(stderr).toContain('--drop-uncaptured destroys it');
    expect(failure).toMatchObject({ name: 'UncapturedWork' });
  });
});

describe('walkback checkpoint', () => {
  test('of what cannot be captured in full it shows, and fails by the table', async () => {
    const failures = [{ path: 'web', reason: 'no access' }];
    const { stdout, failure } = await runCommand(['checkpoint', '--session', 's', '--message', 'm'], {
      answers: { 'walkback-checkpoint': { ...CHECKPOINT, complete: false, failures } },
    });
    expect(stdout).toMatch(/incomplete:[^]*missing +web: no access/);
    expect(failure).toMatchObject({ name: 'CheckpointIncomplete', exitCode: 6 });
  });

  test('asks with what was given, and a fresh tool id', async () => {
    const { calls, stdout, failure } = await runCommand(
      ['checkpoint', '--session', 's', '--message', 'msg-1', '--epoch', '3'],
      { answers: { 'walkback-checkpoint': CHECKPOINT } },
    );
    expect(failure).toBeUndefined();
    expect(calls).toEqual([
      {
        name: 'walkback-checkpoint',
        input: {
          sessionId: 's',
          messageId: 'msg-1',
          toolExecutionId: expect.stringMatching(/^cli-[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}$/),
          reason: 'manual',
          epoch: 3,
        },
      },
    ]);
    expect(stdout).toBe('✔ cp-2 cp-00000002-0badcafe of msg-1: 1 of 1 repository changed\n  api  10 B\n');
  });

  test('says whose tool call comes next, and answers whose work is there', async () => {
    const { calls, stdout } = await runCommand(
      ['checkpoint', '-s', 's', '--for', 'msg-2', '--tool', 'call-1'],
      {
        answers: { 'walkback-checkpoint': CHECKPOINT },
      },
    );
    const input = { sessionId: 's', forMessageId: 'msg-2', toolExecutionId: 'call-1', reason: 'manual' };
    expect(calls).toEqual([{ name: 'walkback-checkpoint', input }]);
    expect(stdout).toContain('of msg-1: ');
  });

  test('answers JSON and nothing else with --json, before or after the command', async () => {
    for (const argv of [
      ['--json', 'checkpoint', '-s', 's', '-m', 'm'],
      ['checkpoint', '-s', 's', '-m', 'm', '--json'],
    ]) {
      const { stdout, stderr } = await runCommand(argv, { answers: { 'walkback-checkpoint': CHECKPOINT } });
      expect(JSON.parse(stdout)).toEqual(CHECKPOINT);
      expect(stderr).toBe('');
    }
  });

  test.each([
    [['checkpoint', '--session', 's'], 'Give --message, whose work is there, or --for'],
    [['checkpoint', '-s', 's', '-m', '../x'], 'Use up to 64 letters'],
    [['checkpoint', '-s', 's', '-m', 'm', '--epoch', 'soon'], 'whole number'],
    [['checkpoint', '-s', 's', '-m', 'm', '--nope'], "unknown option '--nope'"],
    [['chekpoint'], "unknown command 'chekpoint'"],
    [['rehydrate', '-s', 's', '--mode', 'both'], 'review, resume'],
  ])('%j is wrong usage', async (argv, message) => {
    const { failure, calls, stdout } = await runCommand(argv);
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    expect(failure?.message).toContain(message);
    expect([calls, stdout]).toEqual([[], '']);
  });
});

describe('the exit code', () => {
  test.each([
    ['InvalidInput', 2],
    ['SessionNotFound', 3],
    ['MessageNotFound', 3],
    ['StaleEpoch', 4],
    ['RollbackInProgress', 4],
    ['StorageUnavailable', 5],
    ['Throttled', 5],
    ['BundleCorrupt', 6],
    ['ConfigurationError', 7],
    ['RestoreFailed', 1],
    ['InternalError', 1],
    ['toString', 1],
  ])('of %s is %i', async (name, code) => {
    const { failure } = await runCommand(['context', '-s', 's'], {
      answers: { 'walkback-context': new CliError(name, 'because') },
    });
    expect(failure).toMatchObject({ name, message: 'because', exitCode: code });
  });

  test('of --help and --version is 0', async () => {
    const help = await runCommand(['--help']);
    expect(help.failure?.exitCode).toBe(0);
    expect(help.stdout).toContain('Exit codes:');
    const version = await runCommand(['--version']);
    expect([version.failure?.exitCode, version.stdout]).toEqual([0, '0.1.0\n']);
  });
});

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

describe('walkback session start', () => {
  test('refuses the root of the file system before anything is made', async () => {
    const sandboxes = {
      create: async () => 'x',
      createOver: async () => Promise.reject(new Error('made')),
      run: async () => undefined,
      places: async () => ({ rootfs: '/r', mounts: {} }),
      kill: async () => true,
      keep: async () => undefined,
    };
    const { failure } = await runCommand(['session', 'start', '--root', '/'], { sandboxes });
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    for (const [root, why] of [
      ['/no/such/directory', 'does not exist'],
      ['/etc/passwd', 'is not a directory'],
    ] as const) {
      const started = await runCommand(['session', 'start', '--root', root], { sandboxes });
      expect(started.failure).toMatchObject({
        name: 'ProjectsRootNotFound',
        message: `${root} ${why}.`,
        hint: expect.stringContaining('--root DIRECTORY'),
      });
    }
  });
});

describe('walkback session start with a baseline that lacks something', () => {
  const root = realpathSync(tmpdir());
  const start = async (...more: string[]) => {
    const did: string[] = [];
    const sandboxes = {
      create: async () => 'x',
      createOver: async () => (did.push('made'), 'new'),
      run: async () => undefined,
      places: async () => ({ rootfs: '/r', mounts: {} }),
      kill: async (id: string) => did.push(`killed ${id}`) > 0,
    };
    const answer = {
      sessionId: 's',
      checkpointId: 'cp-00000001-0badcafe',
      epoch: 1,
      complete: false,
      repositories: [],
      warnings: ['web: not captured: no access'],
    };
    const answers = { 'walkback-start-session': answer };
    return {
      did,
      ...(await runCommand(['session', 'start', '--root', root, ...more], { sandboxes, answers })),
    };
  };

  test('shows it, and fails by the table; the session goes on in its directory', async () => {
    const { did, stdout, failure } = await start();
    expect(stdout).toContain('web: not captured: no access');
    expect(failure).toMatchObject({ name: 'CheckpointIncomplete', exitCode: 6 });
    expect(did).toEqual(['made']);
    const json = await start('--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ sessionId: 's', sandboxId: 'new', complete: false });
    expect(json.failure).toMatchObject({ name: 'CheckpointIncomplete', exitCode: 6 });
  });
});

describe('walkback session start of a session that is there', () => {
  const root = realpathSync(tmpdir());
  const begun = {
    sessionId: 's',
    checkpointId: 'cp-00000001-0badcafe',
    epoch: 1,
    complete: true,
    repositories: [],
    warnings: [],
  };
  const start = async (timeline: unknown, mounts: Record<string, string>) => {
    const did: string[] = [];
    const sandboxes = {
      create: async () => 'x',
      createOver: async () => (did.push('made'), 'new'),
      run: async () => undefined,
      places: async () => ({ rootfs: '/r', mounts }),
      kill: async (id: string) => did.push(`killed ${id}`) > 0,
    };
    const { calls, failure } = await runCommand(['session', 'start', '--root', root, '--id', 's'], {
      sandboxes,
      answers: { 'walkback-timeline': timeline, 'walkback-start-session': begun },
    });
    const asked = calls.find(({ name }) => name === 'walkback-start-session')?.input;
    return { did, asked, failure };
  };
  const of = (projectsRoot: string) => ({ session: { sessionId: 's', projectsRoot, sandboxId: 'first' } });

  test('repeats the request of the first start, so that it is found', async () => {
    const { did, asked, failure } = await start(of(root), { [root]: root });
    expect(failure).toBeUndefined();
    expect(asked).toEqual({ sessionId: 's', sandboxId: 'first', projectsRoot: root });
    expect(did).toEqual([]);
  });

  test.each([
    ['works in another directory', of('/elsewhere'), { [root]: root }],
    ['works in a copy', of(root), { [root]: '/data/copy' }],
    ['is not there', new CliError('SessionNotFound', 'none'), {}],
  ])('makes a sandbox of its own when it %s', async (_, timeline, mounts) => {
    const { did, asked } = await start(timeline, mounts);
    expect(asked).toMatchObject({ sandboxId: 'new' });
    expect(did).toEqual(['made']);
  });
});

describe('the default session', () => {
  const session = (sessionId: string, projectsRoot: string, createdAt: string, status = 'active') => ({
    sessionId,
    projectsRoot,
    createdAt,
    status,
  });
  const sandboxes = {
    create: async () => 'x',
    createOver: async () => 'x',
    run: async () => undefined,
    places: async () => ({ rootfs: '/r', mounts: {} }),
    kill: async () => true,
    keep: async () => undefined,
  };
  const answers = {
    'walkback-context': { prompt: 'You work in api.', repositories: [], directories: [] },
    'walkback-list-sessions': {
      sessions: [
        session('older', '/work', '2026-01-01'),
        session('newer', '/work', '2026-01-02'),
        session('ended', '/work', '2026-01-03', 'ended'),
        session('beside', '/workshop', '2026-01-04'),
      ],
    },
  };

  test('is the newest running one whose root holds the current directory', async () => {
    const { calls, stdout } = await runCommand(['context'], { answers, sandboxes, cwd: '/work/api/src' });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'newer' } });
    expect(stdout).toBe('You work in api.\n');
  });

  test.each(['/work', '/work/..drafts', '/work/...'])('is found in %s too', async (cwd) => {
    const { calls } = await runCommand(['context'], { answers, sandboxes, cwd });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'newer' } });
  });

  test('is WALKBACK_SESSION when that is set, and --session above all', async () => {
    const env = { WALKBACK_SESSION: 'mine' };
    const set = await runCommand(['context'], { answers, sandboxes, env });
    expect(set.calls).toEqual([{ name: 'walkback-context', input: { sessionId: 'mine' } }]);
    const asked = await runCommand(['context', '-s', 'this'], { answers, sandboxes, env });
    expect(asked.calls).toEqual([{ name: 'walkback-context', input: { sessionId: 'this' } }]);
  });

  test('is the only one that runs, elsewhere, and says so', async () => {
    const sessions = [
      session('ended', '/work', '2026-01-03', 'ended'),
      session('only', '/work', '2026-01-01'),
    ];
    const { calls, stderr } = await runCommand(['context'], {
      answers: { ...answers, 'walkback-list-sessions': { sessions } },
      sandboxes,
      cwd: '/tmp',
    });
    expect(calls[1]).toEqual({ name: 'walkback-context', input: { sessionId: 'only' } });
    expect(stderr).toContain('session only, the only one that runs, of /work');
  });

  test('is missed with a hint where several run elsewhere, where none runs, and on AWS', async () => {
    const elsewhere = await runCommand(['context'], { answers, sandboxes, cwd: '/tmp' });
    expect(elsewhere.failure).toMatchObject({
      name: 'SessionNotFound',
      exitCode: 3,
      message: 'Several sessions run, and none has /tmp in its root.',
    });
    const none = await runCommand(['context'], {
      answers: { ...answers, 'walkback-list-sessions': { sessions: [] } },
      sandboxes,
    });
    expect(none.failure).toMatchObject({
      name: 'SessionNotFound',
      hint: 'start one with walkback session start --root DIR',
    });
    const onAws = await runCommand(['context'], { answers });
    expect(onAws.failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
  });
});

describe('files that are named on the command line', () => {
  test.each([
    ['saga', 'start', 'refund', '--by', 'me', '--input', '@/nonexistent/input.json'],
    ['saga', 'submit', 's-1', 'call-1', '--tool', 'pay', '--arguments', '@/nonexistent/input.json'],
    ['tool', 'call', 'pay', '--request', 'r-1', '--arguments', '@/nonexistent/input.json'],
    ['catalog', 'put', '/nonexistent/catalog.json'],
    ['verify-commitments', '/nonexistent/commitments.json', '--session', 's'],
    ['ledger', 'verify', 's-1', '--public-key', '/nonexistent/key.pem'],
  ])('%s %s: one that cannot be read is named, and nothing is asked', async (...words) => {
    const { calls, failure } = await runCommand(words);
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^\/nonexistent\/\S+ cannot be read: ENOENT/),
      exitCode: 2,
    });
    expect(calls).toEqual([]);
  });

  test.each([
    ['saga', 'start', 'refund', '--by', 'me', '--input', '@'],
    ['catalog', 'put', ''],
    ['verify-commitments', '', '--session', 's'],
    ['ledger', 'verify', 's-1', '--public-key', ''],
    ['ledger', 'export', '', '--day', '2026-01-31'],
    ['up', '--functions', ''],
    ['rollback', '--to', 'm', '--path', '', '--session', 's'],
    ['revert', '--path', '', '--session', 's'],
    ['merge', 'fork', '--path', ''],
  ])('%s %s: one without a name is refused as that', async (...words) => {
    const { failure } = await runCommand(words, { answers: { 'walkback-query-ledger': { entries: [] } } });
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^(?!.*ENOENT).*\bempty\.$/),
      exitCode: 2,
    });
  });

  test('one that cannot be written is named', async () => {
    const words = ['ledger', 'export', '/nonexistent/ledger.csv', '--day', '2026-01-31'];
    const { failure } = await runCommand(words, { answers: { 'walkback-query-ledger': { entries: [] } } });
    expect(failure).toMatchObject({
      name: 'InvalidInput',
      message: expect.stringMatching(/^\/nonexistent\/ledger\.csv cannot be written: ENOENT/),
    });
  });
});

test.each([
  ['rehydrate -s s', 'walkback-rehydrate'],
  ['fork -s s', 'walkback-fork-session'],
  ['saga park sg --summary done', 'walkback-park-saga'],
  ['saga start refund --by me', 'walkback-start-saga', 'sagaId', 'id'],
  ['saga start --plan {"steps":[]} --inline --by me', 'walkback-start-saga', 'sagaId', 'id'],
  ['session start --sandbox sbx --root /home/user/projects', 'walkback-start-session', 'sessionId', 'id'],
])('%s: an interrupt tells the id without which the same words would begin another', async (...row) => {
  const [words, name, member = 'requestId', option = 'request'] = row;
  const interrupted = new AbortController();
  const requests: unknown[] = [];
  const never = (input: object): Promise<never> => {
    requests.push(Reflect.get(input, member));
    interrupted.abort(new CliError('Interrupted', 'Interrupted.'));
    return Promise.withResolvers<never>().promise;
  };
  const { failure } = await runCommand(words.split(' '), {
    signal: interrupted.signal,
    answers: { [name]: never },
  });
  expect(failure).toMatchObject({
    exitCode: 130,
    message: `Interrupted. It may be done, begun or neither: ${option} ${String(requests[0])}.`,
    hint: `the same command with --${option} ${String(requests[0])} finishes it`,
  });
});
