/** Somebody with rights in the account edits what is stored of sagas that ended: verify names it, and nobody is told it as truth. */

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import { packedState, stateText } from '../../adapters/aws/sagas/packed-state.ts';
import { entryItem } from '../../adapters/aws/sagas/saga-items.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { answered } from '../support/error-of.ts';
import { type Attributes, tamperedSagas } from '../support/tampering.ts';

const { it, itemsOf, find, change, verify } = tamperedSagas(['done', 'failed'], async (sagas) => {
  await sagas.start('done');
  await sagas.observe('done');
  sagas.faults.refuseMail = true;
  sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
  await sagas.start('failed');
  expect((await sagas.observe('failed')).status).toBe('COMPENSATION_FAILED');
});

const text = (item: Attributes | undefined, name: string): string => item?.[name]?.S ?? '';

/** The day on which they ran, also when midnight comes meanwhile. */
const dayOf = (sagaId: string) => text(find(sagaId, '00000001').item, 'at').slice(0, 10);

describe('the command', () => {
  test('finds nothing in what nobody touched, and says how much it looked at', async () => {
    for (const sagaId of ['done', 'failed']) expect(await verify(sagaId)).toMatch(/✔ \d+ entries/);
    const { stdout } = await it.command.run(['ledger', 'verify', '--all', '--day', dayOf('done'), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ day: dayOf('done'), sagas: 2, findings: [] });
  });

  test('of a day names every saga that is not what was written, with an exit code', async () => {
    await change('done', 'HEAD', (item) => (item['requestedBy'] = { S: 'mallory' }));
    await change('failed', '00000002', (item) => (item['actor'] = { S: 'mallory' }));
    const { failure } = await it.command.run(['ledger', 'verify', '--all', '--day', dayOf('done')]);
    expect(failure).toMatchObject({ name: 'LedgerBroken', exitCode: 1, details: { sagas: 2 } });
    expect(failure?.message).toContain('Saga done, head: requestedBy: not what the ledger says.');
    expect(failure?.message).toContain('Saga failed, entry 2: the entry was altered after it was written.');
  });

  test('of a day finds an entry that stands in another place, as no saga has it', async () => {
    const { item } = find('done', '00000001');
    const forged = {
      ...item,
      pk: { S: 'ELSEWHERE' },
      day: { S: dayOf('done') },
      external_ref: { S: 're_forged' },
    };
    await it.tables.put({ table: it.tables.ledger, item: forged });
    const { failure } = await it.command.run(['ledger', 'verify', '--all', '--day', dayOf('done')]);
    expect(failure?.message).toContain('pk');
    await it.tables.remove({ table: it.tables.ledger, item: forged });
  });

  test('says which it wants', async () => {
    for (const wrong of [[], ['--all'], ['done', '--all'], ['--day', dayOf('done')]]) {
      const { failure } = await it.command.run(['ledger', 'verify', ...wrong]);
      expect(failure).toMatchObject({ name: 'InvalidInput', exitCode: 2 });
    }
    expect((await it.command.run(['ledger', 'verify', '--all', '--day', 'monday'])).failure?.exitCode).toBe(
      2,
    );
  });
});

describe('an edit is named:', () => {
  test('the head says COMPENSATED while the ledger says failed, and the model is told nothing of it', async () => {
    await change('failed', 'HEAD', (item) => {
      item['status'] = { S: 'COMPENSATED' };
      const stored = JSON.parse(stateText(item['state']?.B)) as object;
      item['state'] = { B: packedState(JSON.stringify({ ...stored, status: 'COMPENSATED' })) };
      const effects = inflateRawSync(item['effects']?.B ?? new Uint8Array()).toString();
      item['effects'] = { B: deflateRawSync(effects.replaceAll('cf', 'cu')) };
    });
    expect(await verify('failed')).toContain('state.status');
    const told = it.sagas.cloud.invoke('describe-saga', { sagaId: 'failed' });
    await expect(told).rejects.toMatchObject(answered('LedgerBroken', 'walkback ledger verify failed'));
  });

  test.each([
    ['requester', 'HEAD', 'requestedBy'],
    ['status of the index', 'HEAD', 'status'],
    ['template', 'HEAD', 'definition'],
    ['time to live, which would delete the head', 'HEAD', 'expiresAt'],
    ['day of an entry', '00000002', 'day'],
    ['an entry that is put into the index by reference', '00000001', 'entry 1'],
    ['time to live of an entry', '00000001', 'expiresAt'],
  ])('%s', async (_, sk, name) => {
    const attribute = name === 'entry 1' ? 'external_ref' : name;
    await change('done', sk, (item) => (item[attribute] = { S: '2031-01-01' }));
    expect(await verify('done')).toContain(name);
  });

  test('the pinned input, and a pinned step', async () => {
    await change('done', 'INPUT#', (item) => (item['input'] = { S: '{"orderId":"another"}' }));
    await change('done', 'STEPS#', (item) => {
      item['steps'] = { S: text(item, 'steps').replaceAll('walkback-tool-refund', 'mallory') };
    });
    const message = await verify('done');
    expect(message).toContain('the pinned input is not what was pinned');
    expect(message).toContain('pinned steps 1 to 5 are not what was pinned');
  });

  test('an entry before the first', async () => {
    const { item } = find('done', '00000000');
    const before = { ...item, sk: { S: '-0000001' }, seq: { N: '-1' } };
    await it.tables.put({ table: it.tables.ledger, item: before });
    expect(await verify('done')).toContain('an entry is there that was never written');
  });

  test('an entry behind the last, and one that cannot be read', async () => {
    const { item } = find('done', '00000001');
    await it.tables.put({ table: it.tables.ledger, item: { ...item, sk: { S: 'z' }, detail: { S: '{' } } });
    expect(await verify('done')).toContain('entry at z: cannot be read as an entry');
  });

  test('an entry that is gone, the head that is gone, and everything that is gone', async () => {
    await it.tables.remove(find('done', '00000003'));
    expect(await verify('done')).toContain('entry 3: an entry is missing');
    await it.tables.restore('done', itemsOf('done'));
    await it.tables.remove(find('done', 'HEAD'));
    expect(await verify('done')).toContain('head: is gone');
  });

  test('a chain that holds, of a saga that no machine can have run', async () => {
    const fact: Fact = {
      direction: 'undo',
      status: 'committed',
      stepIndex: 0,
      step: 's',
      tool: 't',
      version: '1',
      epoch: 0,
      attempt: 1,
      idempotencyKey: 'k',
    };
    const stamp = { at: '2026-01-01T00:00:00.000Z', actor: 'engine' };
    const [entry] = chain('done', { seq: 0, tip: GENESIS_HASH }, [fact], stamp).entries;
    if (entry === undefined) throw new Error('no entry');
    for (const one of await it.tables.of('done'))
      if (one.table === it.tables.ledger) await it.tables.remove(one);
    await it.tables.put({ table: it.tables.ledger, item: marshall(entryItem(entry)) });
    await change('done', 'HEAD', (head) => {
      head['seq'] = { N: '1' };
      head['tip'] = { S: entry.hash };
    });
    expect(await verify('done')).toContain('it does not fold');
  });
});

test('what is observed of a saga that nobody touched is told', async () => {
  const seen = (await it.sagas.cloud.invoke('describe-saga', { sagaId: 'failed' })) as unknown as Observation;
  expect(seen.status).toBe('COMPENSATION_FAILED');
});
