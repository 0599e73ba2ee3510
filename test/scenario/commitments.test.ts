/** Commitments are verified in a fresh copy, which is killed again: real git, real processes. */
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { VerifyCommitmentsAnswer } from '../../contract/workspace-answers.ts';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { openWorld, rootOf, sandboxIds, sdkOf, shell } from '../support/world.ts';

const test = inTurn('commitments');

const cloud = shared(startTestCloud);
const world = shared(() => openWorld(cloud(), { paths: ['api', 'web'] }));
const running = shared(() => sandboxIds(cloud()));

const one = (id: string, command: string, more = {}) => ({ id, description: id, command, ...more });
const verify = async (commitments: object[], more = {}): Promise<VerifyCommitmentsAnswer> => {
  const request = { sessionId: world().sessionId, commitments, ...more };
  return (await cloud().invoke('verify-commitments', request)) as unknown as VerifyCommitmentsAnswer;
};
const statuses = ({ commitments }: VerifyCommitmentsAnswer) =>
  Object.fromEntries(commitments.map(({ id, status }) => [id, status]));

test('what passes only because of files outside the repositories fails in the copy', async () => {
  shell(
    world().root,
    'echo yes > ../outside; echo yes > beside; echo yes > api/cache.ignored; echo yes > api/inside',
  );
  const first = await world().checkpoint('t1', 'msg-1');
  const commands = {
    outside: 'test -e "$HOME"/outside || test -e ../outside',
    beside: 'test -e beside',
    ignored: 'test -e api/cache.ignored',
    inside: 'grep -q yes api/inside',
  };
  // In the agent's own sandbox each of them passes.
  for (const command of Object.values(commands)) shell(world().root, command);
  const before = world().fingerprint();
  const answer = await verify(Object.entries(commands).map(([id, command]) => one(id, command)));
  expect(answer).toMatchObject({ ok: false, checkpointId: first.checkpointId });
  expect(statuses(answer)).toEqual({
    outside: 'broken',
    beside: 'broken',
    ignored: 'broken',
    inside: 'kept',
  });
  expect(world().fingerprint()).toEqual(before);

  // Work that no checkpoint holds is not there either, and an earlier message is what it was.
  shell(world().root, 'echo no > api/inside');
  expect((await verify([one('inside', 'grep -q yes inside', { cwd: 'api' })])).ok).toBe(true);
  await world().checkpoint('t2', 'msg-2');
  const inside = [one('inside', 'grep -q yes api/inside')];
  expect((await verify(inside)).ok).toBe(false);
  expect((await verify(inside, { messageId: 'msg-1' })).ok).toBe(true);
  expect(await sandboxIds(cloud())).toEqual(running());
});

test('each is told how it ended and what it wrote, cut where it is too much', async () => {
  const answer = await verify([
    one('promised', 'echo out; echo err >&2; exit 3', { expectExitCode: 3 }),
    one('killed', 'kill -9 $$'),
    one('slow', 'echo begun; sleep 600', { timeoutSeconds: 1 }),
    one('stubborn', 'trap "" TERM; while :; do sleep 1; done', { timeoutSeconds: 1 }),
    one('stays', 'sleep 600 & setsid sleep 600 & exit 0'),
    one('much', 'echo first; yes | head -c 40000000; echo last', { timeoutSeconds: 60 }),
    one('odd', `printf 'a\\0b\\377\\033[31m'`),
    one('nowhere', 'true', { cwd: 'no/such' }),
    one('mine', 'test "$(pwd)" = "$(cd -P . && pwd)" && test -d ../api', { cwd: 'api' }),
  ]);
  expect(statuses(answer)).toEqual({
    promised: 'kept',
    killed: 'broken',
    slow: 'timed-out',
    stubborn: 'timed-out',
    stays: 'kept',
    much: 'kept',
    odd: 'kept',
    nowhere: 'broken',
    mine: 'kept',
  });
  const of = (id: string) => answer.commitments.find((found) => found.id === id);
  expect(of('promised')).toMatchObject({ exitCode: 3, output: 'out\nerr\n', isCut: false });
  expect(of('slow')).toMatchObject({ exitCode: null, output: 'begun\n' });
  expect(of('odd')?.output).toBe('ab�\u001b[31m');
  const much = of('much');
  expect(much?.isCut).toBe(true);
  expect(much?.output.startsWith('first\ny\n')).toBe(true);
  expect(much?.output.endsWith('y\nlast\n')).toBe(true);
  expect(much?.output.length).toBeLessThan(8300);
  expect(await sandboxIds(cloud())).toEqual(running());
});

test('a hostile command finds no key, no signed URL and nothing of another sandbox', async () => {
  // So much is brought into the copy by signed URLs.
  shell(world().root, 'head -c 9000000 /dev/urandom > api/large.bin; echo "an ordinary line" > api/ordinary');
  // What the agent's own sandbox has of somebody's: in its home, and in the settings of a repository.
  const token = `token${randomBytes(8).toString('hex')}`;
  shell(
    world().root,
    `mkdir -p ../.aws; for f in .netrc .git-credentials .aws/credentials; do echo "$T" > ../$f; done
    git -C api remote add origin "https://ada:$T@git.invalid/api"
    git -C api config http.extraHeader "Authorization: Basic $T"`,
    { T: token },
  );
  await world().checkpoint('t3', 'msg-3');
  const { AWS_SECRET_ACCESS_KEY: secret = '', E2B_API_KEY: key = '' } = cloud().environment;
  expect(secret.length).toBeGreaterThan(10);
  const answer = await verify([
    one('environment', 'env'),
    one('none', '! grep -rqE "X-Amz-Signature|X-Amz-Credential" "$HOME"/..'),
    // The search finds what is there.
    one('finds', 'grep -rqa "an ordinary line" "$HOME"/..'),
    // The command itself does not hold it in one piece.
    one('others', `! grep -rqa "${token.slice(0, 9)}""${token.slice(9)}" "$HOME"/..`),
    one('remote', 'git config remote.origin.url; ! git config http.extraHeader', { cwd: 'api' }),
    one('writes', 'echo harmed > "$HOME"/harmed && echo harmed > api/a.txt'),
  ]);
  const environment = answer.commitments[0]?.output ?? '';
  expect(environment).toMatch(/^PATH=/m);
  expect(environment).not.toMatch(/^(?:AWS|WALKBACK|E2B_API|E2B_ACCESS|GIT_ASKPASS)/m);
  expect(JSON.stringify(answer)).not.toContain(secret);
  expect(JSON.stringify(answer)).not.toContain(key);
  expect(statuses(answer)).toMatchObject({
    none: 'kept',
    finds: 'kept',
    others: 'kept',
    remote: 'kept',
    writes: 'kept',
  });
  expect(answer.commitments.find(({ id }) => id === 'remote')?.output).toMatch(
    /^https:.*git\.invalid\/api\n$/,
  );
  expect(JSON.stringify(answer)).not.toContain(token);
  expect(existsSync(join(world().root, '../harmed'))).toBe(false);
  expect(shell(world().root, 'cat api/a.txt')).not.toContain('harmed');
  expect(await sandboxIds(cloud())).toEqual(running());
});

test('no copy is left when it dies, or the request is refused', async () => {
  const proxy = await cloud().interpose('e2b', [
    // The second command: the first one rebuilds the checkpoint.
    { match: { path: 'process.Process/Start' }, at: 3, action: { kind: 'status', status: 500 } },
  ]);
  await expect(verify([one('a', 'true'), one('b', 'true')])).rejects.toMatchObject({
    errorType: 'SandboxUnavailable',
  });
  expect(proxy.count({ method: 'DELETE' })).toBeGreaterThan(0);
  cloud().heal();
  expect(await sandboxIds(cloud())).toEqual(running());

  await expect(verify([one('a', 'true')], { messageId: 'none' })).rejects.toMatchObject({
    errorType: 'MessageNotFound',
  });
  await expect(verify([one('a', 'true'), one('a', 'true')])).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
  await expect(verify([one('a', 'true', { cwd: '../other' })])).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
  expect(await sandboxIds(cloud())).toEqual(running());
});

test('a copy is tagged, and given no more time than the call has: a killed call leaves none for long', async () => {
  const waiting = verify([one('waits', 'while [ ! -e "$HOME"/go ]; do sleep 0.1; done')]);
  const copy = await vi.waitUntil(
    async () => {
      const found = await sdkOf(cloud()).list().nextItems();
      return found.find(({ metadata }) => metadata['walkback-request']?.startsWith('verify-') === true);
    },
    { timeout: 60_000 },
  );
  expect(copy.metadata['walkback-session']).toBe(world().sessionId);
  expect(copy.endAt.getTime() - copy.startedAt.getTime()).toBeLessThan(931_000);
  writeFileSync(join(rootOf(cloud(), copy.sandboxId, '/home/user'), 'go'), '');
  expect((await waiting).ok).toBe(true);
  expect(await sandboxIds(cloud())).toEqual(running());
});
