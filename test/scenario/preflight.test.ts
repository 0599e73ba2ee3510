/** A sandbox is looked at before anybody works in it: real git, real remotes, and no sandbox left behind. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import type { PreflightAnswer } from '../../contract/workspace-answers.ts';
import { startTestCloud } from '../support/cloud.ts';
import { shared } from '../support/shared.ts';
import { openWorld, sandboxIds, shell } from '../support/world.ts';

const ROOT = '/home/user/work';

const cloud = shared(startTestCloud);
const world = shared(() => openWorld(cloud(), { paths: ['api', 'web'] }));

const look = async (request: object): Promise<PreflightAnswer> =>
  (await cloud().invoke('preflight', { projectsRoot: ROOT, ...request })) as unknown as PreflightAnswer;
const find = ({ checks }: PreflightAnswer, id: string) => checks.find((one) => one.id === id);

test('a sandbox with everything is ready, and stays as it is', async () => {
  const before = world().fingerprint();
  const answer = await look({ sandboxId: world().sandboxId, needs: ['git', 'bash'] });
  expect(answer.checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(answer.ok).toBe(true);
  expect(answer.checks.map(({ id }) => id)).toEqual([
    'git',
    'uploads',
    'need:git',
    'need:bash',
    'projects-root',
    'write',
    'disk',
    'repositories',
    'prompts',
  ]);
  expect(find(answer, 'git')?.found).toMatch(/^git version 2\./);
  expect(find(answer, 'repositories')?.found).toBe('api, web');
  expect(world().fingerprint()).toEqual(before);
});

test('everything that is missing is named at once, with what to do', async () => {
  const poor = await openWorld(cloud(), { sessionId: 'poor', paths: ['api', 'web'] });
  shell(poor.root, 'echo nonsense > api/.git/HEAD');
  const answer = await look({ sandboxId: poor.sandboxId, needs: ['no-such-command'] });
  expect(answer.ok).toBe(false);
  const bad = answer.checks.filter(({ ok }) => !ok);
  expect(bad.map(({ id, found }) => [id, found])).toEqual([
    ['need:no-such-command', 'no no-such-command'],
    ['repositories', 'git cannot read api'],
  ]);
  expect(bad.every(({ advice }) => advice !== '')).toBe(true);
  const elsewhere = await look({ sandboxId: poor.sandboxId, projectsRoot: '/proc/none' });
  expect(find(elsewhere, 'projects-root')).toMatchObject({ ok: false, found: '/proc/none is not there' });
});

test('a remote that asks for credentials is found, and credentials are not told', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization ?? 'nobody');
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP listener');
  const at = `127.0.0.1:${address.port}`;
  const remote = await openWorld(cloud(), { sessionId: 'remote', paths: ['api', 'web'] });
  shell(
    remote.root,
    `git -C api remote add origin "http://$A/api"; git -C web remote add origin "http://ada:hidden@$A/web"
    git -C api config credential.helper "!touch $PWD/ran; false"`,
    { A: at },
  );
  try {
    const answer = await look({ sandboxId: remote.sandboxId });
    expect(find(answer, 'prompts')).toMatchObject({
      ok: false,
      found: `http://${at}/api asks for a name and a password; http://${at}/web refuses the credentials`,
    });
    expect(JSON.stringify(answer)).not.toContain('hidden');
    expect(asked).toContain('nobody');
    // The settings of a repository are commands: none of them runs.
    expect(shell(remote.root, 'ls')).toBe('api\nweb\n');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('of a template a sandbox is made and killed, also when it cannot be looked at', async () => {
  const before = await sandboxIds(cloud());
  const answer = await look({ template: 'base' });
  expect(find(answer, 'projects-root')).toMatchObject({ ok: true });
  expect(await sandboxIds(cloud())).toEqual(before);

  const proxy = await cloud().interpose('e2b', [
    { match: { path: 'process.Process/Start' }, action: { kind: 'status', status: 500 } },
  ]);
  await expect(look({ template: 'base' })).rejects.toMatchObject({ errorType: 'SandboxUnavailable' });
  expect(proxy.count({ method: 'DELETE' })).toBe(1);
  cloud().heal();
  expect(await sandboxIds(cloud())).toEqual(before);
});

test('one of sandbox and template is given, and a sandbox that is gone is said', async () => {
  await expect(look({})).rejects.toMatchObject({ errorType: 'InvalidInput' });
  await expect(look({ sandboxId: 'a', template: 'b' })).rejects.toMatchObject({ errorType: 'InvalidInput' });
  await expect(look({ sandboxId: 'gone' })).rejects.toMatchObject({ errorType: 'SandboxNotFound' });
  await expect(look({ sandboxId: 'gone', needs: ['a b'] })).rejects.toMatchObject({
    errorType: 'InvalidInput',
  });
});
