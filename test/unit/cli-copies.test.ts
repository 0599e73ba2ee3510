import { describe, expect, test } from 'vitest';
import { ageOf } from '../../cli/view/copy-views.ts';
import type { ListedCopy } from '../../contract/checkpoint-answers.ts';
import { runCommand } from '../support/recording-app.ts';

const copy = (sandboxId: string, more: Partial<ListedCopy> = {}): ListedCopy => ({
  sandboxId,
  sessionId: 's1',
  requestId: 'r',
  madeFor: 'review',
  state: 'idle',
  checkpointId: 'cp-00000003-0badcafe',
  messageId: 'msg-2',
  projectsRoot: '/projects',
  startedAt: new Date(2026, 0, 2, 9).toISOString(),
  endsAt: new Date(2026, 0, 2, 13).toISOString(),
  ...more,
});

const answers = (copies: ListedCopy[]) => ({
  'walkback-list-copies': { copies },
  'walkback-delete-copy': ({ sandboxId, dryRun }: { sandboxId: string; dryRun?: boolean }) => ({
    sandboxId,
    deleted: dryRun !== true,
    ...(dryRun === true && {
      work: {
        checkpointId: 'cp-00000003-0badcafe',
        changed: sandboxId === 'two' ? ['web'] : [],
        uncaptured: sandboxId === 'two' ? [{ path: 'api/locked', reason: 'no access' }] : [],
      },
    }),
  }),
});

const deletedIn = (calls: { name: string; input: unknown }[]) =>
  calls.flatMap(({ name, input }) =>
    name === 'walkback-delete-copy' && !Object.hasOwn(Object(input), 'dryRun') ? [input] : [],
  );

describe('walkback copies', () => {
  test('says age, session, message and place of each', async () => {
    const { stdout } = await runCommand(['copies'], { answers: answers([copy('one')]) });
    expect(stdout).toMatch(/one {2}3 h old, ends 13:00:00/);
    expect(stdout).toMatch(/session +s1, a copy to look at/);
    expect(stdout).toMatch(/shows +msg-2 {2}cp-00000003-0badcafe/);
    expect(stdout).toMatch(/at +\/projects/);
    const none = await runCommand(['copies', 'list'], { answers: answers([]) });
    expect(none.stdout).toContain('No review copies');
  });

  test('on this machine the place is the directory', async () => {
    const sandboxes = {
      places: async (sandboxId: string) => ({ rootfs: `/data/e2b/${sandboxId}/`, mounts: {} }),
      createOver: () => Promise.reject(new Error('not asked')),
      create: () => Promise.reject(new Error('not asked')),
      run: () => Promise.reject(new Error('not asked')),
      kill: () => Promise.reject(new Error('not asked')),
    };
    const { stdout } = await runCommand(['copies', '--json'], { answers: answers([copy('one')]), sandboxes });
    expect(JSON.parse(stdout)).toMatchObject({ copies: [{ directory: '/data/e2b/one/projects' }] });
  });

  test('a hostile name moves no cursor', async () => {
    const { stdout } = await runCommand(['copies'], {
      answers: answers([copy('one', { messageId: 'a\u001b[2Jb' })]),
    });
    expect(stdout).not.toContain('\u001b[2J');
  });
});

describe('walkback copies delete', () => {
  test('asks with the copy in front, and deletes nothing without a yes', async () => {
    const given = { answers: answers([copy('one'), copy('two')]) };
    const no = await runCommand(['copies', 'delete', 'two'], { ...given, typed: 'n\n' });
    expect(no.stderr).toContain('two  3 h old');
    expect(no.stderr).not.toContain('one  3 h old');
    expect(no.failure).toMatchObject({ name: 'NotConfirmed' });
    expect(deletedIn(no.calls)).toEqual([]);
    const yes = await runCommand(['copies', 'delete', 'two'], { ...given, typed: 'y\n' });
    expect(deletedIn(yes.calls)).toEqual([{ sandboxId: 'two' }]);
    expect(yes.stdout).toContain('Deleted 1 copy.');
  });

  test('says what is lost: in the plan, in a dry run, and after --yes', async () => {
    const given = { answers: answers([copy('one'), copy('two')]) };
    const asked = await runCommand(['copies', 'delete', 'two'], { ...given, typed: 'n\n' });
    const dry = await runCommand(['copies', 'delete', '--all', '--dry-run'], given);
    const done = await runCommand(['copies', 'delete', '--all', '--yes'], given);
    for (const text of [asked.stderr, dry.stdout, done.stdout])
      expect(text).toMatch(
        /work that cp-00000003-0badcafe does not hold: web\n +not captured: api\/locked: no access/,
      );
    expect(done.stdout).not.toContain('lost with one');
    const json = await runCommand(['copies', 'delete', '--all', '--dry-run', '--json'], given);
    expect(JSON.parse(json.stdout).copies[1]).toMatchObject({ work: { changed: ['web'] } });
  });

  test('--all leaves those in which something works, and a dry run all of them', async () => {
    const given = { answers: answers([copy('one'), copy('building', { state: 'busy' }), copy('two')]) };
    const dry = await runCommand(['copies', 'delete', '--all', '--dry-run'], given);
    expect(dry.stdout).not.toContain('building');
    expect(deletedIn(dry.calls)).toEqual([]);
    const all = await runCommand(['copies', 'delete', '--all', '--yes', '--json'], given);
    expect(deletedIn(all.calls)).toEqual([{ sandboxId: 'one' }, { sandboxId: 'two' }]);
    expect(JSON.parse(all.stdout)).toMatchObject({
      deleted: [{ sandboxId: 'one' }, { sandboxId: 'two' }],
      failed: [],
    });
  });

  test('one that cannot go does not keep the others', async () => {
    const refused = Object.assign(new Error('Session "s2" works in it.'), { name: 'SessionConflict' });
    const { stdout, failure } = await runCommand(['copies', 'delete', '--all', '--yes'], {
      answers: {
        ...answers([copy('used'), copy('two')]),
        'walkback-delete-copy': ({ sandboxId }: { sandboxId: string }) =>
          sandboxId === 'used' ? refused : { sandboxId, deleted: true },
      },
    });
    expect(stdout).toContain('Deleted 1 copy.');
    expect(stdout).toContain('SessionConflict: Session "s2" works in it.');
    expect(failure).toMatchObject({ name: 'SessionConflict', exitCode: 4 });
  });

  test.each([
    [['copies', 'delete', '--yes'], 'InvalidInput'],
    [['copies', 'delete', 'one', '--all', '--yes'], 'InvalidInput'],
    [['copies', 'delete', 'gone', '--yes'], 'SandboxNotFound'],
    [['copies', 'delete', 'one', '--json'], 'InvalidInput'],
  ])('%j: %s', async (argv, name) => {
    const { failure, calls } = await runCommand(argv, { answers: answers([copy('one')]) });
    expect(failure).toMatchObject({ name });
    expect(deletedIn(calls)).toEqual([]);
  });
});

test.each([
  [0, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_599_999, '59 min'],
  [90 * 60_000, '1 h'],
  [-5000, '0 s'],
])('%i ms is an age of %s', (ms, age) => {
  const startedAt = '2026-01-02T10:00:00.000Z';
  expect(ageOf(startedAt, new Date(Date.parse(startedAt) + ms))).toBe(age);
});
