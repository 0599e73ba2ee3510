/** The HTTP API as people call it: the gateway, the authorizer, the functions and the store of the embedded cloud. */
import { once } from 'node:events';
import { request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { ERRORS } from '../../contract/errors.ts';
import { PEOPLE_ROWS } from '../../contract/people.ts';
import { loadTokenKey } from '../../local/identity/keys.ts';
import { createMint, LOCAL_AUDIENCE, LOCAL_ISSUER, LOCAL_SCOPE } from '../../local/identity/mint.ts';
import { startSagaCloud } from '../support/saga-cloud.ts';
import { shared } from '../support/shared.ts';
import { issuerIn, tokenFrom } from '../support/sign-in.ts';

const sagas = shared(startSagaCloud);

const tokenOf = (name: string, roles?: string[]) => tokenFrom(issuerIn(sagas().cloud), name, roles);

const post = (
  path: string,
  { token, body = {}, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> },
) =>
  fetch(`${sagas().cloud.endpoints.api}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const toldBy = async (response: Response) => [
  response.status,
  ((await response.json()) as { error?: { name: string } }).error?.name,
];

describe('a person with a token', () => {
  test('reads, and answers an approval in their own name', async () => {
    const argumentsHash = await sagas().askForMail('api-proven');
    const token = await tokenOf('rita@example.com');
    const listed = await post('/v1/list-sagas', { token, body: { status: 'AWAITING' } });
    expect(listed.status).toBe(200);
    expect(await listed.json()).toMatchObject({ sagas: [expect.objectContaining({ sagaId: 'api-proven' })] });
    const answered = await post('/v1/answer', {
      token,
      body: { sagaId: 'api-proven', stepId: 'mail', decision: 'approve', argumentsHash },
    });
    expect(await answered.json()).toMatchObject({
      answered: { by: 'rita@example.com', person: { sub: 'rita@example.com', dev: true } },
    });
  });

  test('is told of a refusal by its name, its status and what to do', async () => {
    const response = await post('/v1/describe-saga', {
      token: await tokenOf('rita'),
      body: { sagaId: 'nowhere' },
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: {
        name: 'SagaNotFound',
        message: expect.stringContaining('nowhere'),
        advice: ERRORS.SagaNotFound.advice,
        retryable: false,
      },
    });
  });

  test('is not somebody else by what the request says', async () => {
    await sagas().askForMail('api-claims');
    const token = await tokenOf('rita@example.com');
    for (const claim of [{ by: 'boss' }, { proof: 'x' }]) {
      const body = { sagaId: 'api-claims', stepId: 'mail', decision: 'approve', ...claim };
      expect(await toldBy(await post('/v1/answer', { token, body }))).toEqual([400, 'InvalidInput']);
    }
    await sagas().cloud.invoke('operate-saga', { sagaId: 'api-claims', action: 'cancel', by: 'ops' });
  });

  test('approves the arguments that were shown and no others with the same token', async () => {
    await sagas().askForMail('api-replay');
    const token = await tokenOf('rita@example.com');
    const body = { sagaId: 'api-replay', stepId: 'mail', decision: 'approve', argumentsHash: 'c'.repeat(64) };
    expect(await toldBy(await post('/v1/answer', { token, body }))).toEqual([409, 'AnswerConflict']);
    await sagas().cloud.invoke('operate-saga', { sagaId: 'api-replay', action: 'cancel', by: 'ops' });
  });
});

describe('roles', () => {
  test('decide in the function of the API for what only reads, and in the function itself for what acts', async () => {
    const reviewer = await tokenOf('rita', ['reviewer']);
    const nobody = await tokenOf('nora', []);
    expect(await toldBy(await post('/v1/list-locks', { token: nobody }))).toEqual([403, 'RoleMissing']);
    expect(
      await toldBy(await post('/v1/put-catalog', { token: reviewer, body: { tools: [], definitions: [] } })),
    ).toEqual([403, 'RoleMissing']);
    const cancel = { sagaId: 'nowhere', action: 'cancel' };
    expect(await toldBy(await post('/v1/operate-saga', { token: reviewer, body: cancel }))).toEqual([
      403,
      'RoleMissing',
    ]);
    // Whoever gets past the API is refused by the function.
    await expect(sagas().cloud.invoke('operate-saga', { ...cancel, proof: reviewer })).rejects.toEqual(
      expect.objectContaining({ errorType: 'RoleMissing' }),
    );
  });

  test.each(['start-saga', 'checkpoint', 'advance-saga', 'api', 'console', 'nonsense', '__proto__'])(
    '%s is no route, whoever asks',
    async (name) => {
      expect(await toldBy(await post(`/v1/${name}`, { token: await tokenOf('omar') }))).toEqual([
        404,
        'NoSuchRoute',
      ]);
    },
  );
});

describe('tokens', () => {
  const signed = async (claims: Record<string, unknown>, header: Record<string, string> = {}) => {
    const key = await loadTokenKey(sagas().cloud.dataDir);
    const seconds = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: LOCAL_ISSUER,
      aud: LOCAL_AUDIENCE,
      sub: 'dev:rita',
      scope: LOCAL_SCOPE,
      groups: ['walkback-reviewer'],
      iat: seconds,
      exp: seconds + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header })
      .sign(key.privateKey);
  };
  const seconds = () => Math.floor(Date.now() / 1000);

  test('one that is in order is taken, so that the others are refused for what is wrong with them', async () => {
    expect((await post('/v1/list-sessions', { token: await signed({}) })).status).toBe(200);
  });

  test.each<[string, () => Promise<string>, number]>([
    ['expired', () => signed({ exp: seconds() - 1 }), 401],
    ['of another audience', () => signed({ aud: 'another-app' }), 401],
    ['of another client', () => signed({ aud: undefined, client_id: 'another-app' }), 401],
    ['of another issuer', () => signed({ iss: 'https://evil.example' }), 401],
    ['not valid yet', () => signed({ nbf: seconds() + 600 }), 401],
    ['without an expiry', () => signed({ exp: undefined }), 401],
    ['without the scope', () => signed({ scope: 'openid' }), 403],
    [
      'for the console, which says who signed in (an ID token)',
      async () =>
        createMint({ key: await loadTokenKey(sagas().cloud.dataDir), now: Date.now }).id(
          { login_hint: 'rita', roles: [], scope: '' },
          'nonce',
        ),
      403,
    ],
    [
      'signed by somebody else',
      async () => {
        const { privateKey } = await generateKeyPair('RS256');
        return new SignJWT({ scope: LOCAL_SCOPE, sub: 'x' })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuer(LOCAL_ISSUER)
          .setAudience(LOCAL_AUDIENCE)
          .setExpirationTime('1h')
          .sign(privateKey);
      },
      401,
    ],
    [
      'signed with the public key as a secret (algorithm confusion)',
      async () => {
        const { publicJwk } = await loadTokenKey(sagas().cloud.dataDir);
        return new SignJWT({ scope: LOCAL_SCOPE, sub: 'x', groups: ['walkback-operator'] })
          .setProtectedHeader({ alg: 'HS256', kid: publicJwk.kid ?? '' })
          .setIssuer(LOCAL_ISSUER)
          .setAudience(LOCAL_AUDIENCE)
          .setExpirationTime('1h')
          .sign(new TextEncoder().encode(JSON.stringify(publicJwk)));
      },
      401,
    ],
    ['that is none', async () => 'a.b.c', 401],
  ])('one %s opens nothing', async (_, make, status) => {
    const response = await post('/v1/list-sessions', { token: await make() });
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('sessions');
  });

  test('none, or one that is not said to be one, opens nothing, and the gateway says so', async () => {
    const none = await post('/v1/list-sessions', {});
    expect([none.status, await none.json()]).toEqual([401, { message: 'Unauthorized' }]);
    expect((await post('/v1/list-sessions', { headers: { authorization: 'Basic cml0YTpy' } })).status).toBe(
      401,
    );
  });

  test('one that the gateway let through is verified again by the function of the API', async () => {
    const other = { version: '2.0', rawPath: '/v1/list-sessions', rawQueryString: '', body: '{}' };
    const requestContext = {
      domainName: 'api.example',
      http: { method: 'POST' },
      authorizer: { jwt: { claims: { sub: 'boss', groups: '[walkback-operator]' } } },
    };
    const answer = await sagas().cloud.invoke('api', {
      ...other,
      requestContext,
      headers: {
        authorization: `Bearer ${await signed({ aud: 'another-app' })}`,
        'content-type': 'application/json',
      },
    });
    expect(answer).toMatchObject({ statusCode: 401 });
    expect(String(answer['body'])).toContain('ProofInvalid');
  });
});

describe('what is asked wrongly', () => {
  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['no JSON', '{', {}, 400, 'InvalidInput'],
    ['a list', [], {}, 400, 'InvalidInput'],
    ['a field that is not known', { nonsense: 1 }, {}, 400, 'InvalidInput'],
    ['a form', 'limit=1', { 'content-type': 'application/x-www-form-urlencoded' }, 400, 'InvalidInput'],
    ['more than 4 MiB', { metadata: 'x'.repeat(4.5 * 1024 * 1024) }, {}, 413, 'RequestTooLarge'],
  ])('%s', async (_, body, headers, status, name) => {
    const token = await tokenOf('rita');
    expect(await toldBy(await post('/v1/list-sessions', { token, body, headers }))).toEqual([status, name]);
  });

  test('limits of the gateway hold here too: 10,240 bytes of headers, 6 MB of an event', async () => {
    const token = await tokenOf('rita');
    expect(
      (await post('/v1/list-sessions', { token, headers: { 'x-long': 'x'.repeat(10_000) } })).status,
    ).toBe(431);
    expect((await post('/v1/list-sessions', { token, body: 'x'.repeat(7 * 1024 * 1024) })).status).toBe(413);
  });

  test('TRACE, which no request of a function can have, is not taken', async () => {
    const token = await tokenOf('rita');
    for (const path of ['/v1/list-sessions', '/queue', '/nowhere']) {
      const trace = request(`${sagas().cloud.endpoints.api}${path}`, {
        method: 'TRACE',
        headers: { authorization: `Bearer ${token}` },
      });
      const [{ statusCode }] = await once(trace.end(), 'response');
      expect(statusCode, path).toBe(405);
    }
  });

  test('pages of others get nothing: no CORS, and no answer at all here', async () => {
    const token = await tokenOf('rita');
    const response = await post('/v1/list-sessions', { token, headers: { origin: 'https://evil.example' } });
    expect(response.status).toBe(403);
    const own = await post('/v1/list-sessions', { token });
    expect(own.headers.get('access-control-allow-origin')).toBeNull();
  });
});

test.each(['HEAD', 'POST', 'OPTIONS'])('the document answers %s without a token, too', async (method) => {
  const response = await fetch(`${sagas().cloud.endpoints.api}/openapi.json`, { method });
  expect([response.status, response.headers.get('allow')]).toEqual(
    method === 'HEAD' ? [200, null] : [405, 'GET, HEAD'],
  );
});

test('the document is there without a token, names every function that people may call, and describes what is refused as it is', async () => {
  const document = (await (await fetch(`${sagas().cloud.endpoints.api}/openapi.json`)).json()) as {
    paths: Record<string, { post: { responses: Record<string, { $ref: string }> } }>;
  };
  const routes = PEOPLE_ROWS.map(({ name }) => `/v1/${name}`);
  expect(Object.keys(document.paths)).toEqual([...routes, '/openapi.json']);
  const ajv = new Ajv2020({ strict: false, formats: { uri: true } }).addSchema(document, 'document');
  const token = await tokenOf('rita', ['reviewer']);
  const all = await Promise.all([
    post('/v1/list-sagas', {}),
    post('/v1/list-sagas', { token, body: '{' }),
    post('/v1/list-sagas', { token, headers: { 'x-long': 'x'.repeat(10_000) } }),
    post('/v1/list-sagas', { token, body: 'x'.repeat(7 * 1024 * 1024) }),
    post('/v1/list-sagas', { token, body: { metadata: 'x'.repeat(4.5 * 1024 * 1024) } }),
    post('/v1/put-catalog', { token, body: { tools: [], definitions: [] } }),
    post('/v1/describe-saga', { token, body: { sagaId: 'nowhere' } }),
  ]);
  expect(all.map(({ status }) => status)).toEqual([401, 400, 431, 413, 413, 403, 404]);
  for (const response of all) {
    const { pathname } = new URL(response.url);
    const described = document.paths[pathname]?.post.responses[response.status];
    expect(described, `${pathname} ${response.status}`).toBeDefined();
    const schema = `document${described?.$ref}/content/application~1json/schema`;
    expect(ajv.validate({ $ref: schema }, await response.json()), ajv.errorsText()).toBe(true);
  }
});
