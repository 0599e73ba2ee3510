/** The tables of the ledger's export, read as their definitions say: the same sums as `query-ledger`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LEDGER_QUERIES } from '../../cdk/constructs/ledger-queries.ts';
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';
import { type LedgerTotal, ledgerEffect } from '../../contract/ledger-answers.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';
import { exportedOf, openTable, sagasOf } from '../support/ledger-export.ts';
import { openLedger } from '../support/ledger-world.ts';
import { asArray, entriesOf, logicalIdOf, managedPolicy, statementsOf } from '../support/template.ts';

const NOW = '2026-03-20T00:00:00.000Z';
const march = { from: '2026-03-01', to: '2026-03-31' };

const template = await loadTemplate();

const columnsOf = (direction: string, { amount, undone, byHand }: LedgerTotal['in']) => ({
  [`${direction}_amount`]: amount,
  [`${direction}_undone`]: undone,
  [`${direction}_by_hand`]: byHand,
});
const SUMS = ['undone_effects', 'by_hand_effects', 'net'].concat(
  AMOUNT_DIRECTIONS.flatMap((direction) =>
    Object.keys(columnsOf(direction, { amount: '', undone: '', byHand: '' })),
  ),
);

describe('totals', () => {
  test('of the exported lines are those of query-ledger, for amounts of any size', async () => {
    const effects = openTable(template, 'effects');
    const reconciliations = openTable(template, 'reconciliations');
    await fc.assert(
      fc.asyncProperty(sagasOf(true), async (ledgers) => {
        const objects = await exportedOf(ledgers);
        const ledger = openLedger(ledgers, NOW);
        const lines = effects.rows(objects, NOW).map((line) => ledgerEffect().parse(line));
        const failed = reconciliations.rows(objects, NOW).map((line) => ({
          sagaId: String(line['saga_id']),
          failedAt: String(line['failed_at']),
          reconciledAt: line['reconciled_at'] === null ? null : String(line['reconciled_at']),
          seconds: line['seconds'] === null ? null : Number(line['seconds']),
        }));
        const totals = createTotals();
        for (const line of lines) {
          totals.add(
            line,
            failed.filter(({ sagaId }) => sagaId === line.saga_id),
          );
        }
        expect(totals.end()).toEqual(await ledger.totals(march));
        expect(lines).toHaveLength((await ledger.effects(march)).length);
      }),
      { numRuns: 40 },
    );
  });

  test('by the queries of the workgroup are the same again', async () => {
    const effects = openTable(template, 'effects');
    const reconciliations = openTable(template, 'reconciliations');
    await fc.assert(
      fc.asyncProperty(sagasOf(false), async (ledgers) => {
        const objects = await exportedOf(ledgers);
        using database = new DatabaseSync(':memory:');
        for (const table of [effects, reconciliations]) {
          const rows = table.rows(objects, NOW);
          database.exec(`CREATE TABLE ${table.name} (${table.names.join(', ')})`);
          const insert = database.prepare(
            `INSERT INTO ${table.name} VALUES (${table.names.map(() => '?').join(', ')})`,
          );
          for (const row of rows) insert.run(...table.names.map((name) => row[name] ?? null));
        }
        const { byTool, reconciliations: known } = await openLedger(ledgers, NOW).totals(march);
        const summed = database.prepare(LEDGER_QUERIES['totals-by-tool']).all();
        const text = ({ tool, currency, effects: count, ...one }: Record<string, unknown>) =>
          [tool, currency, count, ...SUMS.map((name) => `${name} ${Number(one[name])}`)]
            .map(String)
            .join(' ');
        expect(summed.map(text).toSorted()).toEqual(
          byTool
            .map(({ key, undoneEffects, byHandEffects, in: got, out, neither, ...one }) =>
              text({
                tool: key,
                undone_effects: undoneEffects,
                by_hand_effects: byHandEffects,
                ...columnsOf('in', got),
                ...columnsOf('out', out),
                ...columnsOf('neither', neither),
                ...one,
              }),
            )
            .toSorted(),
        );
        const seconds = database.prepare(LEDGER_QUERIES['time-to-reconcile']).all();
        const sum = (name: string) => seconds.reduce((all, one) => all + Number(one[name]), 0);
        expect(sum('failed')).toBe(known.length);
        expect(sum('reconciled')).toBe(known.filter((one) => one.seconds !== null).length);
        const rows = await openLedger(ledgers, NOW).effects(march);
        const standing = database.prepare(LEDGER_QUERIES['what-still-stands']).all();
        expect(standing).toHaveLength(
          rows.filter(({ status }) => status === 'undo_failed' || status === 'in_doubt').length,
        );
        expect(database.prepare(LEDGER_QUERIES['of-a-reference']).all()).toEqual([]);
        // Whoever has to look at a row finds where its provider shows it.
        for (const name of ['what-still-stands', 'of-a-reference'] as const) {
          const columns = database.prepare(LEDGER_QUERIES[name]).columns();
          expect(columns.map((one) => one.name)).toContain('external_url');
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('the export', () => {
  test('is private, encrypted, and kept; results of queries go after a month', () => {
    const [, bucket] =
      entriesOf(template, 'AWS::S3::Bucket').find(([id]) => id.includes('LedgerExport')) ?? [];
    expect(bucket).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
        LifecycleConfiguration: { Rules: [{ Prefix: 'results/', ExpirationInDays: 30 }] },
      },
    });
    expect(JSON.stringify(bucket?.Properties['BucketEncryption'])).toContain('AES256');
  });

  test('is written by one function alone, which deletes nothing and sees no results', () => {
    const [id = ''] =
      entriesOf(template, 'AWS::S3::Bucket').find(([one]) => one.includes('LedgerExport')) ?? [];
    const writers = planCloud(template).functions.filter(({ name }) =>
      statementsOf(template, name).some(({ Resource }) => JSON.stringify(Resource).includes(`"${id}"`)),
    );
    expect(writers.map(({ name }) => name)).toEqual(['walkback-export-ledger']);
    const may = statementsOf(template, 'walkback-export-ledger').filter(({ Resource }) =>
      JSON.stringify(Resource).includes(`"${id}"`),
    );
    expect(new Set(may.flatMap(({ Action }) => asArray(Action)))).toEqual(
      new Set(['s3:GetObject', 's3:PutObject', 's3:ListBucket']),
    );
    expect(JSON.stringify(may)).not.toContain('results');
  });

  test('is fed by the heads of sagas alone, gathered for a minute', () => {
    const mapping = entriesOf(template, 'AWS::Lambda::EventSourceMapping').find(
      ([, { Properties }]) =>
        JSON.stringify(Properties['FunctionName']) ===
        JSON.stringify({ Ref: logicalIdOf(template, 'walkback-export-ledger') }),
    );
    expect(mapping?.[1].Properties).toMatchObject({
      BatchSize: 1000,
      MaximumBatchingWindowInSeconds: 60,
      FilterCriteria: {
        Filters: [
          {
            Pattern: JSON.stringify({
              eventName: ['INSERT', 'MODIFY'],
              dynamodb: { Keys: { sk: { S: ['HEAD'] } } },
            }),
          },
        ],
      },
    });
    const plan = planCloud(template).streams.find(({ functionName }) =>
      functionName.endsWith('export-ledger'),
    );
    expect(plan?.windowMs).toBe(60_000);
  });

  test('is queried by finance: lines read, results written, nothing of it changed', () => {
    const statements = managedPolicy(template, 'AccessFinance');
    const writing = statements.filter(({ Action }) => asArray(Action).includes('s3:PutObject'));
    expect(writing).toHaveLength(1);
    expect(JSON.stringify(writing[0]?.Resource)).toContain('/results/*');
    expect(JSON.stringify(writing[0]?.Resource)).not.toContain('effects');
    const athena = statements.find(({ Action }) => asArray(Action).includes('athena:StartQueryExecution'));
    expect(JSON.stringify(athena?.Resource)).toMatch(/workgroup\/walkback-ledger"/);
  });

  test('has a workgroup whose results are encrypted and stay in the bucket, with the queries that the docs show', async () => {
    const [group] = entriesOf(template, 'AWS::Athena::WorkGroup').map(([, one]) => one.Properties);
    expect(group).toMatchObject({
      WorkGroupConfiguration: {
        EnforceWorkGroupConfiguration: true,
        ResultConfiguration: { EncryptionConfiguration: { EncryptionOption: 'SSE_S3' } },
      },
    });
    const queries = entriesOf(template, 'AWS::Athena::NamedQuery').map(
      ([, one]) => one.Properties['QueryString'],
    );
    expect(queries).toEqual(Object.values(LEDGER_QUERIES));
    const docs = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
    expect(docs).toContain(`\`\`\`sql\n${LEDGER_QUERIES['totals-by-tool']}\n\`\`\``);
    for (const name of Object.keys(LEDGER_QUERIES)) expect(docs).toContain(`\`${name}\``);
  });
});
