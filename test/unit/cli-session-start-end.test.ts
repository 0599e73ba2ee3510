/** `walkback session start` and `walkback session end`: what is found, made, removed and kept. */

import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../cli/failure.ts';
import type { DiscardedFork } from '../../contract/checkpoint-answers.ts';
import { timeline } from '../support/listed-timeline.ts';
import { runCommand, SANDBOXES } from '../support/recording-app.ts';

const isPlan = (input: unknown): boolean => (input as { dryRun?: boolean }).dryRun === true;

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

const root = realpathSync(tmpdir());

/** Sandboxes that note what is made and killed. */
const recorded = (mounts: Record<string, string> = {}) => {
  const did: string[] = [];
  const sandboxes = {
    ...SANDBOXES,
    createOver: async () => (did.push('made'), 'new'),
    places: async () => ({ rootfs: '/r', mounts }),
    kill: async (id: string) => did.push(`killed ${id}`) > 0,
  };
  return { did, sandboxes };
};

describe('walkback session start', () => {
  test('refuses the root of the file system before anything is made', async () => {
    const sandboxes = { ...SANDBOXES, createOver: async () => Promise.reject(new Error('made')) };
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
  const start = async (...more: string[]) => {
    const { did, sandboxes } = recorded();
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
  const begun = {
    sessionId: 's',
    checkpointId: 'cp-00000001-0badcafe',
    epoch: 1,
    complete: true,
    repositories: [],
    warnings: [],
  };
  const start = async (timeline: unknown, mounts: Record<string, string>) => {
    const { did, sandboxes } = recorded(mounts);
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
