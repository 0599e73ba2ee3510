/** Who approves, from the sign-in to the ledger: the issuer, the functions and the store of the embedded cloud. */
import { describe, expect, test } from 'vitest';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { startSagaCloud } from '../support/saga-cloud.ts';
import { shared } from '../support/shared.ts';
import { issuerIn, tokenFrom } from '../support/sign-in.ts';

const sagas = shared(startSagaCloud);
const place = shared(() => issuerIn(sagas().cloud));

const tokenOf = (name: string, roles?: string[], at = place()) => tokenFrom(at, name, roles);

const answer = (sagaId: string, more: object) =>
  sagas().cloud.invoke('answer', { sagaId, stepId: 'mail', decision: 'approve', ...more });
const refused = (name: string) => expect.objectContaining({ errorType: name });

describe('an approval with a proof', () => {
  test('is in the ledger with the person, and says who it was', async () => {
    const argumentsHash = await sagas().askForMail('proven');
    const proof = await tokenOf('rita@example.com');
    const answered = await answer('proven', { proof, argumentsHash });
    const person = { iss: place().issuer, sub: 'rita@example.com', email: 'rita@example.com', dev: true };
    expect(answered).toMatchObject({ answered: { by: 'rita@example.com', person } });
    const { entries } = (await sagas().cloud.invoke('query-ledger', { sagaId: 'proven' })) as unknown as {
      entries: LedgerRow[];
    };
    const row = entries.find(({ status }) => status === 'approved');
    expect(row).toMatchObject({ actor: 'rita@example.com' });
    expect(JSON.parse(row?.detail ?? '')).toMatchObject({ person });
    expect(row?.detail).not.toContain(proof.split('.')[2]);
    // The saga goes on meanwhile, and its head and entries are read one after the other.
    await expect.poll(() => sagas().isSound('proven'), { timeout: 60_000 }).toBe(true);
  });

  test('of other arguments than were shown changes nothing', async () => {
    await sagas().askForMail('shown');
    const proof = await tokenOf('rita@example.com');
    await expect(answer('shown', { proof, argumentsHash: 'b'.repeat(64) })).rejects.toEqual(
      refused('AnswerConflict'),
    );
    await answer('shown', { proof, decision: 'reject' });
  });

  test('of who started the saga is refused, and of somebody else is taken', async () => {
    await sagas().askForMail('four-eyes', 'Rita@Example.com');
    await expect(answer('four-eyes', { proof: await tokenOf('rita@example.com') })).rejects.toEqual(
      refused('SamePerson'),
    );
    await answer('four-eyes', { proof: await tokenOf('omar@example.com') });
  });

  test('needs a role that may answer', async () => {
    await sagas().askForMail('role');
    await expect(answer('role', { proof: await tokenOf('otto', ['operator']) })).rejects.toEqual(
      refused('RoleMissing'),
    );
    await expect(
      sagas().cloud.invoke('operate-saga', {
        sagaId: 'role',
        action: 'cancel',
        proof: await tokenOf('rita', ['reviewer']),
      }),
    ).rejects.toEqual(refused('RoleMissing'));
    await answer('role', { proof: await tokenOf('rita', ['reviewer']) });
  });

  test.each(['no token', 'a.b.c'])('%j is refused', async (proof) => {
    await expect(answer('nothing', { proof })).rejects.toEqual(refused('ProofInvalid'));
  });

  test('nobody at all is refused before anything else', async () => {
    for (const nobody of [{}, { by: ' ' }, { by: 'engine' }, { by: ' engine ' }]) {
      await expect(answer('nothing', nobody)).rejects.toEqual(refused('InvalidInput'));
    }
  });
});

describe('where proofs are required', () => {
  test('a claim neither answers, cancels nor rewinds, and a proof does', async () => {
    sagas().cloud.reconfigure({ WALKBACK_REQUIRE_VERIFIED_APPROVER: 'true' });
    try {
      await sagas().askForMail('strict');
      const calls: [string, object][] = [
        ['answer', { sagaId: 'strict', stepId: 'mail', decision: 'approve' }],
        ['operate-saga', { sagaId: 'strict', action: 'cancel' }],
        ['rewind', { sagaId: 'strict', to: { steps: 1 }, requestId: 'r' }],
        ['rewind', { sessionId: 's', to: { messageId: 'm' }, requestId: 'r' }],
      ];
      for (const [name, input] of calls) {
        await expect(sagas().cloud.invoke(name, { ...input, by: 'ada' })).rejects.toEqual(
          refused('ProofRequired'),
        );
      }
      const proof = await tokenOf('rita@example.com');
      await sagas().cloud.invoke('operate-saga', { sagaId: 'strict', action: 'cancel', proof });
      expect(await sagas().observe('strict')).toMatchObject({ failed: { by: 'rita@example.com' } });
    } finally {
      sagas().cloud.reconfigure({ WALKBACK_REQUIRE_VERIFIED_APPROVER: 'false' });
    }
  });
});

describe('the issuer of the embedded cloud', () => {
  test('signs in nobody without the secret of the cloud', async () => {
    const { secret: _, ...stranger } = place();
    for (const at of [stranger, { ...place(), secret: 'guessed' }]) {
      await expect(tokenOf('rita', ['reviewer'], at)).rejects.toThrow('did not sign you in');
    }
  });

  test('gives a code away once', async () => {
    const { configuration, clientId: client_id, scope, secret } = place();
    const url = new URL(configuration).origin;
    const post = async (path: string, form: Record<string, string>) =>
      (
        await fetch(`${url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}` },
          body: new URLSearchParams(form),
        })
      ).json() as Promise<Record<string, string>>;
    const { device_code = '' } = await post('/device', { client_id, scope, login_hint: 'rita' });
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code, client_id };
    expect(await post('/token', form)).toHaveProperty('access_token');
    expect(await post('/token', form)).toEqual({ error: 'invalid_grant' });
  });

  test('answers no web page', async () => {
    const response = await fetch(place().configuration, { headers: { origin: 'https://evil.example' } });
    expect(response.status).toBe(403);
  });

  test('leaves what signs people in out of the functions', () => {
    expect(process.env['WALKBACK_OIDC_ISSUER']).toBe(place().issuer);
    expect(process.env['WALKBACK_LOGIN_SECRET']).toBeUndefined();
  });
});
