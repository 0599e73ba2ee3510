/** A machine on which Node is told to use a proxy, which does not know this machine's own addresses. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { keepLoopbackDirect } from '../../cli/loopback.ts';

const server = createServer((request, response) => {
  response.writeHead(request.method === 'POST' ? 201 : 404).end(request.url);
});
let url = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(() => void server.close());

/** Port 9 is that of no proxy. */
const BEHIND_PROXY = { NODE_USE_ENV_PROXY: '1', http_proxy: 'http://127.0.0.1:9', NO_PROXY: 'intranet' };

const answerOf = async (program: string): Promise<unknown> => {
  const args = ['--input-type=module', '-e', program];
  const env = { PATH: process.env['PATH'], ...BEHIND_PROXY };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: import.meta.dirname });
  return JSON.parse(stdout);
};

test('the client asks the embedded cloud itself', async () => {
  const program = (method: string) => `
    import { requestHere } from '../../client/loopback-request.ts';
    const answer = await requestHere(new URL('${url}/a?b'), { method: '${method}', headers: {}, body: '{}' });
    console.log(JSON.stringify(answer));`;
  expect(await answerOf(program('POST'))).toEqual({ status: 201, body: '/a?b' });
  expect(await answerOf(program('DELETE'))).toEqual({ status: 404, body: '/a?b' });
});

test('in the command, fetch asks it too', async () => {
  const program = (before: string) => `
    import { keepLoopbackDirect } from '../../cli/loopback.ts';
    ${before}
    const answer = await fetch('${url}/here').then((answer) => answer.text(), (error) => error.message);
    console.log(JSON.stringify(answer));`;
  expect(await answerOf(program(''))).toBe('fetch failed');
  expect(await answerOf(program('keepLoopbackDirect(process.env);'))).toBe('/here');
});

test.skipIf(process.platform !== 'linux')(
  'in the command, fetch asks no proxy at all where the environment names all hosts',
  async () => {
    const program = `
    import { createServer } from 'node:http';
    import { once } from 'node:events';
    import { keepLoopbackDirect } from '../../cli/loopback.ts';
    process.env.NO_PROXY = '*';
    keepLoopbackDirect(process.env);
    const elsewhere = createServer((_, response) => response.end('there')).listen(0, '127.0.0.2');
    await once(elsewhere, 'listening');
    const asked = fetch('http://127.0.0.2:' + elsewhere.address().port);
    console.log(JSON.stringify(await asked.then((answer) => answer.text(), (error) => error.message)));
    elsewhere.closeAllConnections();
    elsewhere.close();`;
    expect(await answerOf(program)).toBe('there');
  },
);

test.each([
  [{}, {}],
  [{ no_proxy: 'a' }, { no_proxy: 'a' }],
  [
    { http_proxy: 'http://p', NO_PROXY: '*' },
    { http_proxy: 'http://p', NO_PROXY: '*' },
  ],
  [
    { http_proxy: 'http://p', no_proxy: '', NO_PROXY: 'a' },
    {
      http_proxy: 'http://p',
      no_proxy: 'a,127.0.0.1,localhost,::1',
      NO_PROXY: 'a,127.0.0.1,localhost,::1',
    },
  ],
  [
    { HTTPS_PROXY: 'http://p' },
    { HTTPS_PROXY: 'http://p', no_proxy: '127.0.0.1,localhost,::1', NO_PROXY: '127.0.0.1,localhost,::1' },
  ],
  [
    { http_proxy: 'http://p', no_proxy: 'a, .b', NO_PROXY: 'c' },
    {
      http_proxy: 'http://p',
      no_proxy: 'a,.b,127.0.0.1,localhost,::1',
      NO_PROXY: 'a,.b,127.0.0.1,localhost,::1',
    },
  ],
])('of %j the proxy leaves out what it did, and this machine', (before, after) => {
  const env = { ...before };
  keepLoopbackDirect(env);
  expect(env).toEqual(after);
});
