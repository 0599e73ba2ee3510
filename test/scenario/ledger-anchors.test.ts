/** Digests of the ledger under object lock: what leaves no trace in the tables does not agree with them, and they with each other. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, KMSClient, SignCommand, VerifyCommand } from '@aws-sdk/client-kms';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { createAnchorStore } from '../../adapters/aws/sagas/anchor-store.ts';
import { createLedgerSigner } from '../../adapters/aws/sagas/ledger-signer.ts';
import { createReadOutcomes } from '../../adapters/aws/sagas/saga-audit.ts';
import { entryItem, headItem } from '../../adapters/aws/sagas/saga-items.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import type { AnchorStore } from '../../core/saga/ledger/anchor.ts';
import { readDigest, type SignedDigest, signedText } from '../../core/saga/ledger/anchor.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import { createAnchorLedger } from '../../core/saga/ledger/write-anchors.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { commandOn, deleteLocked, openTables, type StoredItem, s3Of } from '../support/tampering.ts';

const test = inTurn('ledger-anchors');

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let sagas: SagaCloud;
let tables: ReturnType<typeof openTables>;
let command: ReturnType<typeof commandOn>;
let s3: S3Client;
let kms: KMSClient;
let bucket: string;
let keyArn: string;
let anchors: AnchorStore;
let now: number;
/** Noon of the next day, so that at any hour the last digest is of the day after that of the sagas. */
let laterMs: number;
/** Names of all digests, in their order, and what they hold. */
let names: string[];
const texts = new Map<string, string>();
const stored = new Map<string, StoredItem[]>();

/** What the function does, as at another time: the SDK itself would be refused with a clock that is wrong. */
const anchorAt = (timeMs: number) => {
  const log = { info: () => undefined, warn: () => undefined };
  const clock = { now: () => new Date(timeMs), sleep: async () => undefined };
  const signer = createLedgerSigner({ keyArn, client: kms });
  const outcomes = createReadOutcomes({ ledgerTable: tables.ledger, client: tables.client });
  const anchor = createAnchorLedger({ anchors, signer, outcomes, clock, log });
  return anchor({ deadlineMs: timeMs + 300_000 });
};

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
const keyOf = (name: string): string => `anchors/${name}.json`;

beforeAll(async () => {
  sagas = await startSagaCloud();
  const { environment, endpoints } = sagas.cloud;
  tables = openTables(sagas.cloud);
  s3 = s3Of(sagas.cloud);
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = environment;
  const credentials = { accessKeyId, secretAccessKey };
  kms = new KMSClient({ region: 'us-east-1', endpoint: endpoints.kms, credentials });
  bucket = environment['WALKBACK_ANCHOR_BUCKET'] ?? '';
  keyArn = environment['WALKBACK_ANCHOR_KEY_ARN'] ?? '';
  anchors = createAnchorStore({ bucket, client: s3 });
  for (const sagaId of ['done', 'other']) {
    await sagas.start(sagaId);
    await sagas.observe(sagaId);
    stored.set(sagaId, await tables.of(sagaId));
  }
  now = Date.now();
  laterMs = Date.parse(dayOf(now)) + 1.5 * DAY_MS;
  const { written } = await sagas.cloud.invoke('anchor-ledger', {});
  expect(written).toHaveLength(1);
  for (const atMs of [now + 12 * MINUTE_MS, now + 14 * MINUTE_MS, laterMs]) await anchorAt(atMs);
  names = (await Promise.all((await anchors.days()).map((day) => anchors.list(day))))
    .flat()
    .map(({ name }) => name);
  for (const name of names) texts.set(name, (await anchors.get(name)) ?? '');
  command = commandOn(sagas.cloud, { now: () => new Date(laterMs) });
}, 120_000);
afterEach(async () => {
  for (const [sagaId, items] of stored) await tables.restore(sagaId, items);
  for (const [name, text] of texts) await put(name, text);
});
afterAll(async () => {
  command.close();
  tables.close();
  s3.destroy();
  kms.destroy();
  await sagas.close();
});

/** Past the lock, as only somebody does who may bypass it. */
/** Of the end of a saga. */
const digestOf = (sagaId: string): string =>
  names.findLast((name) => texts.get(name)?.includes(`\\"${sagaId}\\"`)) ?? 'none';

const put = async (name: string, text: string | undefined): Promise<void> => {
  if ((await anchors.get(name)) === text) return;
  await deleteLocked(sagas.cloud, bucket, keyOf(name)).catch(() => undefined);
  if (text === undefined) return;
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: text }));
};

const verify = async (...argv: string[]): Promise<string> => {
  const { failure, stdout } = await command.run(['ledger', 'verify', ...argv]);
  if (failure === undefined) return stdout;
  expect(failure).toMatchObject({ name: 'LedgerBroken', exitCode: 1 });
  return failure.message;
};

const ledgerOf = async (sagaId: string): Promise<{ entries: LedgerEntry[]; head: SagaHead }> => {
  const answer = await sagas.cloud.invoke('query-ledger', { sagaId, evidence: true, limit: 1000 });
  const { head } = answer['evidence'] as { head: SagaHead };
  return { entries: (answer['entries'] as Parameters<typeof fromRow>[0][]).map(fromRow), head };
};

/** Everything of a saga as somebody writes it who knows how: the chain holds and the head agrees. */
const rewrite = async (sagaId: string, facts: readonly LedgerEntry[], head: SagaHead): Promise<void> => {
  const entries: LedgerEntry[] = [];
  let tip = { seq: 0, tip: GENESIS_HASH };
  for (const { sagaId: _, seq: __, at, actor, prevHash: ___, hash: ____, ...fact } of facts) {
    const chained = chain(sagaId, tip, [fact], { at, actor });
    entries.push(...chained.entries);
    tip = chained.tip;
  }
  const items = await tables.of(sagaId);
  for (const one of items.filter(({ table }) => table === tables.ledger)) await tables.remove(one);
  for (const entry of entries) await tables.put({ table: tables.ledger, item: marshall(entryItem(entry)) });
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) throw new Error('no entries');
  const state = fold(entries);
  const changed = { ...head, ...tip, state, version: entries.length, requestedBy: first.actor };
  const statusSince = state.status === 'RUNNING' ? first.at : last.at;
  const times = { createdAt: first.at, updatedAt: last.at, statusSince };
  const item = marshall(headItem({ ...changed, ...times }), { removeUndefinedValues: true });
  await tables.put({ table: tables.sagas, item });
};

describe('what nobody touched', () => {
  test('is anchored to its end, over several digests that follow each other', async () => {
    expect(names.length).toBeGreaterThanOrEqual(5);
    const { entries } = await ledgerOf('done');
    expect(await verify('done')).toContain(`anchored up to entry ${entries.length - 1}`);
    expect(await verify('--all', '--day', dayOf(now))).toContain('all as they were written');
  });

  test('is read page by page, and an unknown cursor or one of another query is refused by name', async () => {
    const pagesOf = async (query: object): Promise<{ cursors: string[]; count: number }> => {
      const cursors: string[] = [];
      let count = 0;
      for (let cursor: string | undefined; ; ) {
        const page = await sagas.cloud.invoke('query-ledger', {
          ...query,
          limit: 4,
          ...(cursor && { cursor }),
        });
        count += (page['entries'] as unknown[]).length;
        if (page['cursor'] === undefined) return { cursors, count };
        cursor = page['cursor'] as string;
        cursors.push(cursor);
      }
    };
    const { entries } = await ledgerOf('done');
    const evidence = await pagesOf({ sagaId: 'done', evidence: true });
    expect(evidence.count).toBe(entries.length);
    expect(evidence.cursors.length).toBeGreaterThan(2);
    const plain = await pagesOf({ sagaId: 'done' });
    const [place = ''] = evidence.cursors;
    const [digest = '', ...others] = names;
    const ofDay = { anchorsOf: dayOf(now) };
    expect(await sagas.cloud.invoke('query-ledger', { ...ofDay, cursor: digest })).toHaveProperty('anchors');
    const foreign = others.find((name) => !name.startsWith(digest.slice(0, 10))) ?? '';
    const past = String(entries.length + 1);
    const refused = [
      ...[
        'x',
        place.replace(/\d$/, 'x'),
        past.padStart(8, '0'),
        plain.cursors[0],
        digest,
        'x'.repeat(2000),
      ].map((cursor) => ({ sagaId: 'done', evidence: true, cursor })),
      ...['x', '9', `${digest}0`, place, foreign].map((cursor) => ({ ...ofDay, cursor })),
      { sagaId: 'done', cursor: past },
      { sagaId: 'done', view: 'effects', cursor: past },
      { day: '2020-01-01', cursor: '2020-01-02|' },
      { day: '2020-01-01', view: 'effects', cursor: '2020-01-02|' },
    ];
    for (const query of refused) {
      const asked = sagas.cloud.invoke('query-ledger', query);
      await expect(asked, JSON.stringify(query)).rejects.toMatchObject({
        errorType: 'InvalidInput',
        message: expect.stringContaining('cursor: take it from the answer before'),
      });
    }
  });

  test('is signed by a key of KMS that anybody may check with', async () => {
    const { signed } = readDigest(texts.get(names[0] ?? '') ?? '') ?? {};
    if (signed === undefined) throw new Error('no digest');
    const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: keyArn }));
    expect(PublicKey?.length).toBeGreaterThan(80);
    const message = { KeyId: keyArn, SigningAlgorithm: 'ECDSA_SHA_256', MessageType: 'RAW' } as const;
    const Message = Buffer.from(signedText(signed));
    const Signature = Buffer.from(signed.signature, 'base64');
    const checked = await kms.send(new VerifyCommand({ ...message, Message, Signature }));
    expect(checked.SignatureValid).toBe(true);
    const wrong = kms.send(new VerifyCommand({ ...message, Message: Buffer.from('x'), Signature }));
    await expect(wrong).rejects.toMatchObject({ name: 'KMSInvalidSignatureException' });
    const unknown = kms.send(
      new SignCommand({ ...message, KeyId: 'arn:aws:kms:us-east-1:0:key/x', Message }),
    );
    await expect(unknown).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  test("cannot be deleted or written over: the lock is the bucket's own", async () => {
    const key = { Bucket: bucket, Key: keyOf(names[0] ?? '') };
    await expect(s3.send(new DeleteObjectCommand(key))).rejects.toMatchObject({ name: 'AccessDenied' });
    const over = s3.send(new PutObjectCommand({ ...key, Body: 'x' }));
    await expect(over).rejects.toMatchObject({ name: 'AccessDenied' });
    const found: GetObjectCommandOutput = await s3.send(new GetObjectCommand(key));
    expect(found.ObjectLockMode).toBe('GOVERNANCE');
    expect(found.ObjectLockRetainUntilDate?.getTime()).toBeGreaterThan(
      Date.now() + 399 * 24 * 60 * MINUTE_MS,
    );
  });
});

describe('an edit that leaves the tables whole is named:', () => {
  test('the tail cut and the head set back', async () => {
    const { entries, head } = await ledgerOf('done');
    await rewrite('done', entries.slice(0, -2), head);
    const { observed, message } = {
      observed: await sagas.cloud.invoke('describe-saga', { sagaId: 'done' }),
      message: await verify('done'),
    };
    // The tables alone are believed: only the digest knows.
    expect(observed['status']).toBe('RUNNING');
    expect(message).toBe(
      `Saga done, entry ${entries.length - 1}: was anchored in digest ${digestOf('done')}, and is gone.`,
    );
  });

  test('the whole chain rewritten', async () => {
    const { entries, head } = await ledgerOf('done');
    const [first, ...rest] = entries;
    if (first === undefined) throw new Error('no entries');
    await rewrite('done', [{ ...first, actor: 'mallory' }, ...rest], head);
    expect(await verify('done')).toContain(`is not the one that was anchored in digest ${digestOf('done')}`);
    expect(await verify('--all', '--day', dayOf(now))).toContain('is not the one that was anchored');
  });

  test('the whole chain rewritten at another time', async () => {
    const { entries, head } = await ledgerOf('done');
    const moved = entries.map((entry) => ({
      ...entry,
      at: new Date(Date.parse(entry.at) - 10 * 24 * 60 * MINUTE_MS).toISOString(),
    }));
    await rewrite('done', moved, head);
    expect(await verify('done')).toContain('is not the one that was anchored');
  });

  test('a saga that was put in afterwards', async () => {
    const { entries, head } = await ledgerOf('done');
    await rewrite('forged', entries, { ...head, sagaId: 'forged' });
    const forged = entries.map((entry) => entry.seq).at(-1);
    expect(await verify('--all', '--day', dayOf(now))).toContain(
      `Saga forged, entry ${forged}: is of a time that digest ${digestOf('done')} covers, and was not there then.`,
    );
    for (const one of await tables.of('forged')) await tables.remove(one);
  });

  test('a saga that was taken out as a whole', async () => {
    for (const one of stored.get('other') ?? []) await tables.remove(one);
    expect(await verify('--all', '--day', dayOf(now))).toBe('Saga other, ledger: is gone, with its head.');
  });
});

describe('digests that are not what was written are named:', () => {
  const at = (index: number): string => names.at(index) ?? '';

  test('one that is missing, in the middle, at the beginning and at the end', async () => {
    await put(at(1), undefined);
    expect(await verify('done')).toContain(`Digest ${at(2)}: the one before it is missing`);
    await put(at(1), texts.get(at(1)));
    await put(at(0), undefined);
    expect(await verify('done')).toContain(
      `Digest ${at(1)}: does not follow the one before it: that one is missing`,
    );
    await put(at(0), texts.get(at(0)));
    await put(at(-1), undefined);
    expect(await verify('done')).toMatch(
      /Digest \d{4}-\d\d-\d\d: its digests end at .*; later ones are missing/,
    );
  });

  test('two that changed places', async () => {
    await put(at(1), texts.get(at(2)));
    await put(at(2), texts.get(at(1)));
    const message = await verify('done');
    expect(message).toContain(`Digest ${at(1)}: stands in the place of another: it is ${at(2)}`);
    expect(message).toContain(`Digest ${at(2)}: stands in the place of another: it is ${at(1)}`);
  });

  const resigned = (
    body: string,
    privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  ) => {
    const signature = sign('sha256', Buffer.from(signedText({ body })), privateKey).toString('base64');
    return JSON.stringify({ body, signature, key: keyArn } satisfies SignedDigest);
  };

  test('one that was edited, and one that another key signed', async () => {
    const name = digestOf('done');
    const { signed } = readDigest(texts.get(name) ?? '') ?? {};
    if (signed === undefined) throw new Error('no digest');
    await put(name, JSON.stringify({ ...signed, body: signed.body.replace('"done"', '"gone"') }));
    const edited = await verify('done');
    expect(edited).toContain(`Digest ${name}: is not signed by the key of the ledger`);
    expect(edited).toContain(`Digest ${names[names.indexOf(name) + 1]}: does not follow the one before it`);
    await put(name, resigned(signed.body));
    expect(await verify('done')).toBe(`Digest ${name}: is not signed by the key of the ledger.`);
    await put(name, 'nonsense');
    expect(await verify('done')).toContain(`Digest ${name}: cannot be read as a digest`);
  });

  test('a key that a person has, whatever the functions say', async () => {
    const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: keyArn }));
    expect(PublicKey).toBeDefined();
    const { failure } = await command.run(['ledger', 'verify', 'done', '--public-key', '/nowhere']);
    expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-key-'));
    const file = join(directory.path, 'other.pem');
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(file, publicKey.export({ type: 'spki', format: 'pem' }));
    const { failure: other } = await command.run(['ledger', 'verify', 'done', '--public-key', file]);
    expect(other?.message).toContain('is not signed by the key of the ledger');
  });
});

test('anchoring goes on where it ended, and not behind a digest that is gone', async () => {
  const before = names.length;
  await anchorAt(laterMs);
  expect((await Promise.all((await anchors.days()).map((day) => anchors.list(day)))).flat()).toHaveLength(
    before,
  );
  await put(names.at(-1) ?? '', 'nonsense');
  await expect(anchorAt(laterMs + DAY_MS)).rejects.toMatchObject({ name: 'LedgerBroken' });
});
