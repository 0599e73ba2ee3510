/** Who wrote a file, where the sandbox or the history lacks something: real git, real bundles. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { describe, expect } from 'vitest';
import type { BlameAnswer } from '../../contract/blame.ts';
import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import { BEGIN, kindsOf, open } from '../support/blame-stage.ts';
import { createGitStage, type GitStage } from '../support/git-stage.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-blame-origins', 3);

const emptyBucket = async ({ s3, bucket: Bucket }: GitStage): Promise<void> => {
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket, Key }));
};

describe('captures that the sandbox lacks', () => {
  test('come from the store: shadows that were lost, with the history of the repository too', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    for (const [line, id] of [
      [1, 'm1'],
      [2, 'm2'],
      [3, 'm3'],
    ] as const) {
      stage.sh(sandbox, `sed -i ${line}s/.*/${id}/ a.txt`, 'app');
      await stage.checkpoint('s1', id);
      if (id === 'm2') rmSync(join(stage.rootOf(sandbox), 'app/.agent-shadow'), { recursive: true });
    }
    const messages = async () =>
      (await stage.blame('s1', 'app/a.txt', { at: 'm3' })).origins.map((one) =>
        'messageId' in one ? one.messageId : one.kind,
      );
    expect(await messages()).toEqual(['m1', 'm2', 'm3']);
    stage.sh(sandbox, 'rm -rf app/.agent-shadow app/.git');
    expect(await messages()).toEqual(['m1', 'm2', 'm3']);
    const second = await stage.blame('s1', 'app/a.txt', { at: 'm1' });
    expect(kindsOf(second)).toEqual(['checkpoint', 'commit', 'commit']);
  });

  test('a fork knows the work of its source, also from before the chain that it began with', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1', BEGIN);
    stage.sh(sandbox, 'sed -i 1s/.*/m1/ a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    // Another chain begins.
    rmSync(join(stage.rootOf(sandbox), 'app/.agent-shadow'), { recursive: true });
    stage.sh(sandbox, 'sed -i 2s/.*/m2/ a.txt', 'app');
    await stage.checkpoint('s1', 'm2');
    const fork = await stage.fork('s1', 'f1');
    stage.sh(fork.sandboxId, 'echo f1 >> a.txt', 'app');
    await stage.checkpoint(fork.sessionId, 'f1');
    const answer = await stage.blame(fork.sessionId, 'app/a.txt');
    expect(
      answer.origins.map((one) => (one.kind === 'checkpoint' ? [one.sessionId, one.messageId] : one.kind)),
    ).toEqual([['s1', 'm1'], ['s1', 'm2'], 'commit', [fork.sessionId, 'f1']]);
  });

  test('a review copy has them too, and a sandbox that is gone is told with what to do', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    stage.sh(sandbox, 'sed -i 1s/.*/m1/ a.txt', 'app');
    const { checkpointId } = await stage.checkpoint('s1', 'm1');
    const copy = await stage.rehydrate('s1', checkpointId, { mode: 'review' });
    stage.sh(copy.sandboxId, 'echo mine >> a.txt', 'app');
    await stage.kill(sandbox);
    await expect(stage.blame('s1', 'app/a.txt')).rejects.toMatchObject({
      name: 'SandboxNotFound',
      message: expect.stringMatching(/walkback rehydrate --to POINT.*walkback blame PATH --sandbox ID/),
    });
    const answer = await stage.blame('s1', 'app/a.txt', { sandboxId: copy.sandboxId });
    expect(kindsOf(answer)).toEqual(['checkpoint', 'commit', 'commit', 'now']);
    // What is done in a copy is nobody's.
    expect(answer.origins.at(-1)).toMatchObject({ kind: 'now', messageId: null });
  });

  test('come by their addresses where they are large', async () => {
    await using stage = await createGitStage({ bundles: { ...BUNDLE_LIMITS, carriedBytes: 100 } });
    const sandbox = await open(stage, 's1');
    stage.sh(sandbox, 'sed -i 1s/.*/m1/ a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    stage.sh(sandbox, 'rm -rf app/.agent-shadow app/.git');
    const answer = await stage.blame('s1', 'app/a.txt', { at: 'm1' });
    expect(kindsOf(answer)).toEqual(['checkpoint', 'commit', 'commit']);
    expect(readdirSync(join(stage.rootOf(sandbox), '.agent-shadow/in-s1'))).toEqual([]);
  });

  test('of a session that has ended are those of its head, from the store', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    stage.sh(sandbox, 'sed -i 1s/.*/m1/ a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    const session = await stage.store.getSession('s1');
    if (session === undefined) throw new Error('no session');
    const ended = { ...session, status: 'ended' as const, version: session.version + 1 };
    await stage.store.updateSession(ended, session.version);
    stage.sh(sandbox, 'rm -rf app/.agent-shadow; echo since >> a.txt', 'app');
    const answer = await stage.blame('s1', 'app/a.txt');
    expect([answer.at.isNow, kindsOf(answer)]).toEqual([false, ['checkpoint', 'commit', 'commit']]);
  });

  test('what the store lacks too is told by name', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    stage.sh(sandbox, 'sed -i 1s/.*/m1/ a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    stage.sh(sandbox, 'rm -rf app/.agent-shadow');
    await emptyBucket(stage);
    await expect(stage.blame('s1', 'app/a.txt', { at: 'm1' })).rejects.toMatchObject({
      name: 'BundleMissing',
    });
  });
});

describe('before the session', () => {
  test.for([
    ['nothing was committed', 'git init -q -b main . && printf "one\\n" > a.txt', 'uncommitted'],
    [
      'ids are of SHA-256',
      `git init -q --object-format=sha256 -b main . && printf "one\\n" > a.txt`,
      'uncommitted',
    ],
  ])('%s', async ([, script, why]) => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1', script);
    stage.sh(sandbox, 'echo two >> a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    const answer = await stage.blame('s1', 'app/a.txt', { at: 'm1' });
    expect(answer.origins).toMatchObject([
      { kind: 'before', why, isSessionStart: true },
      { messageId: 'm1' },
    ]);
  });

  test('a shallow clone names the commits that it has, and its boundary', async () => {
    await using stage = await createGitStage();
    const sandbox = await stage.addSandbox();
    stage.sh(
      sandbox,
      `git init -q -b main ../full && cd ../full && printf "one\\ntwo\\nthree\\n" > a.txt && git add -A && git commit -qm begin && sed -i 2s/.*/TWO/ a.txt && git commit -qam second && sed -i 3s/.*/THREE/ a.txt && git commit -qam third && git clone -q --depth 2 "file://$PWD" ../projects/app`,
    );
    await stage.start('s1', sandbox);
    stage.sh(sandbox, 'echo four >> a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    const words = ({ origins, lines }: BlameAnswer) =>
      lines.map(({ origin }) => {
        const one = origins[origin];
        return one?.kind === 'commit' ? one.summary : one?.kind;
      });
    // Git gives the boundary all that is older.
    expect(words(await stage.blame('s1', 'app/a.txt'))).toEqual(['second', 'second', 'third', 'checkpoint']);
    stage.sh(sandbox, 'rm -rf app/.agent-shadow');
    const lost = await stage.blame('s1', 'app/a.txt', { at: 'm1' });
    expect(words(lost)).toEqual(['before', 'before', 'before', 'checkpoint']);
    expect(lost.origins[0]).toMatchObject({ why: 'unknown' });
  });

  test('where the first checkpoints have expired, what they brought is told as older than the oldest', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    for (const id of ['m1', 'm2', 'm3']) {
      stage.sh(sandbox, `echo ${id} >> a.txt`, 'app');
      await stage.checkpoint('s1', id);
    }
    for (const [key, { seq }] of stage.store.tables.checkpoints)
      if (seq < 3) stage.store.tables.checkpoints.delete(key);
    const { lines, origins } = await stage.blame('s1', 'app/a.txt');
    expect(lines.map(({ origin }) => origins[origin])).toMatchObject([
      { kind: 'commit' },
      { kind: 'commit' },
      { kind: 'commit' },
      { kind: 'before', isSessionStart: false, checkpointId: expect.stringMatching(/^cp-00000003-/) },
      { kind: 'before', isSessionStart: false },
      { kind: 'checkpoint', messageId: 'm3' },
    ]);
  });

  test('a partial clone that lacks older files names no commit, and says why', async () => {
    await using stage = await createGitStage();
    const sandbox = await stage.addSandbox();
    stage.sh(
      sandbox,
      `git init -q -b main ../full && cd ../full && git config uploadpack.allowFilter true && printf "one\ntwo\n" > a.txt && git add -A && git commit -qm begin && sed -i 2s/.*/TWO/ a.txt && git commit -qam second && git clone -q --filter=blob:none "file://$PWD" ../projects/app && rm -rf ../full`,
    );
    await stage.start('s1', sandbox);
    stage.sh(sandbox, 'echo three >> a.txt', 'app');
    await stage.checkpoint('s1', 'm1');
    const answer = await stage.blame('s1', 'app/a.txt');
    expect(kindsOf(answer)).toEqual(['before', 'before', 'checkpoint']);
    expect(answer.origins[0]).toMatchObject({ why: 'unknown', isSessionStart: true });
  });

  test('a repository that comes in the session came with its checkpoint', async () => {
    await using stage = await createGitStage();
    const sandbox = await open(stage, 's1');
    stage.sh(sandbox, `mkdir late && cd late && ${BEGIN}`);
    await stage.checkpoint('s1', 'm1');
    stage.sh(sandbox, 'mv late ../aside');
    await stage.checkpoint('s1', 'm2');
    const inIt = await stage.blame('s1', 'late/a.txt', { at: 'm1' });
    expect(inIt.origins).toMatchObject([{ kind: 'checkpoint', messageId: 'm1' }]);
    await expect(stage.blame('s1', 'late/a.txt')).rejects.toMatchObject({ name: 'PathNotFound' });
    stage.sh(sandbox, 'mv ../aside late');
    const again = await stage.blame('s1', 'late/a.txt');
    expect(kindsOf(again)).toEqual(['now', 'now', 'now']);
  });
});

test("the tool call is the one whose work it is, and work between the turns is nobody's", async () => {
  await using stage = await createGitStage();
  const sandbox = await open(stage, 's1');
  const before = (id: string, more = {}) =>
    stage.checkpoint('s1', id, {
      messageId: undefined,
      forMessageId: 'msg-1',
      tool: { name: 'Edit', input: { file_path: `${id}.txt` } },
      message: { role: 'user', title: 'Mend it' },
      ...more,
    });
  stage.sh(sandbox, 'echo person >> a.txt', 'app');
  await before('call-1');
  stage.sh(sandbox, 'echo first >> a.txt', 'app');
  await before('call-2');
  stage.sh(sandbox, 'echo second >> a.txt', 'app');
  const now = await stage.blame('s1', 'app/a.txt');
  expect(now.origins).toMatchObject([
    { kind: 'commit', author: 'Agent', summary: 'begin' },
    { kind: 'checkpoint', messageId: null },
    {
      kind: 'checkpoint',
      messageId: 'msg-1',
      title: 'Mend it',
      madeBy: { name: 'Edit', input: '{"file_path":"call-1.txt"}' },
    },
    {
      kind: 'now',
      messageId: 'msg-1',
      title: 'Mend it',
      madeBy: { name: 'Edit', input: '{"file_path":"call-2.txt"}' },
    },
  ]);
  expect(now.origins[1]).not.toHaveProperty('madeBy');
});
