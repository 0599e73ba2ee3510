/** The arithmetic of docs/operations.md, Costs: it adds up, and what it counts is what is deployed and measured. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { loadTemplate, PROJECT } from '../../local/template.ts';
import { startTestCloud } from '../support/cloud.ts';
import { startCountingDynamoDb } from '../support/counting-dynamodb.ts';
import { scratch } from '../support/dynamodb.ts';
import { recordUnits } from '../support/recorded-units.ts';
import { entriesOf } from '../support/template.ts';
import { edit, openWorld } from '../support/world.ts';

const operations = await readFile(join(PROJECT, 'docs/operations.md'), 'utf8');
const benchmarks = await readFile(join(PROJECT, 'docs/benchmarks.md'), 'utf8');

interface Row {
  what: string;
  arithmetic: string;
  usd: string;
}

/** The table below a sentence that begins so. */
const tableOf = (beginning: string): Row[] => {
  const after = operations.slice(operations.indexOf(beginning));
  const table = after.slice(after.indexOf('\n|'), after.indexOf('\n\n', after.indexOf('\n|')));
  return [...table.matchAll(/^\| (.+?) +\| (.*?) +\| +(.+?) \|$/gm)]
    .map(([, what = '', arithmetic = '', usd = '']) => ({ what, arithmetic, usd }))
    .slice(2);
};

const evaluate = async (arithmetic: string): Promise<number> =>
  Number(await jsonata(arithmetic.replaceAll(',', '').replaceAll(' x ', ' * ')).evaluate({}));

test.each(['**1,000 checkpoints**', '**1,000 sagas**'])(
  '%s: each row is what it says, and together they are the sum',
  async (beginning) => {
    const rows = tableOf(beginning);
    const sum = rows.pop();
    expect(rows.length).toBeGreaterThan(5);
    let together = 0;
    for (const { what, arithmetic, usd } of rows) {
      const value = await evaluate(arithmetic);
      expect(Math.abs(value - Number(usd)), what).toBeLessThan(0.00006);
      together += value;
    }
    expect(sum).toMatchObject({ what: '**together**', usd: `**${together.toFixed(2)}**` });
  },
);

test('what else a bill shows is named, and each row is what it says', async () => {
  const rows = tableOf('**What else a bill shows**');
  for (const word of ['X-Ray', 'PITR', 'noncurrent versions', 'NAT'])
    expect(rows.filter(({ what }) => what.includes(word)).length, word).toBeGreaterThan(0);
  for (const { what, arithmetic, usd } of rows)
    expect(Math.abs((await evaluate(arithmetic)) - Number(usd)), what).toBeLessThan(0.00006);
});

test('what costs beside the sums is deployed so: tracing, recovery of every table, versions with an end', async () => {
  const template = await loadTemplate();
  const properties = (type: string) => entriesOf(template, type).map(([, one]) => one.Properties);
  expect(properties('AWS::Lambda::Function').some(({ TracingConfig }) => TracingConfig !== undefined)).toBe(
    true,
  );
  const tables = [...properties('AWS::DynamoDB::Table'), ...properties('AWS::DynamoDB::GlobalTable')];
  expect(tables.length).toBeGreaterThan(2);
  expect(JSON.stringify(tables).match(/"PointInTimeRecoveryEnabled":true/g)?.length).toBe(tables.length);
  const kept = JSON.stringify(properties('AWS::S3::Bucket')).match(/"NoncurrentDays":(\d+)/)?.[1];
  expect(
    tableOf('**What else a bill shows**').find(({ what }) => what.includes('noncurrent'))?.what,
  ).toContain(`${kept} days`);
});

test('a saga is counted as it was measured: transitions and write units of 5 steps, with indexes', () => {
  const [, transitions = '', , units = ''] =
    /^\| 5 +\| (\S+) +\| (\S+) +\| (\S+) +\|$/m.exec(benchmarks) ?? [];
  const rows = tableOf('**1,000 sagas**');
  const counted = (word: string) => rows.find(({ what }) => what.includes(word))?.arithmetic;
  expect(counted('transitions')).toMatch(new RegExp(`^1,000 x ${Number(transitions) * 5} x `));
  expect(counted('WRU')).toMatch(new RegExp(`^1,000 x ${Number(units) * 5} x `));
});

test('a checkpoint is counted as it is: units and objects of 5 repositories with one file changed in each', async () => {
  await using directory = await scratch();
  const engine = await startCountingDynamoDb(directory.path);
  await using counting = new AsyncDisposableStack();
  counting.defer(() => engine.close());
  await using cloud = await startTestCloud({ dynamodb: engine.source });
  const world = await openWorld(cloud, { paths: ['a', 'b', 'c', 'd', 'e'] });
  edit(world.root, 1, world.paths);
  await world.checkpoint('first');
  edit(world.root, 2, world.paths);
  using recording = recordUnits('walkback-checkpoint');
  await world.checkpoint('second');
  const rows = tableOf('**1,000 checkpoints**');
  const counted = (word: string) =>
    Number(/^1,000 x (\d+)/.exec(rows.find(({ what }) => what.includes(word))?.arithmetic ?? '')?.[1]);
  expect(recording.units).toEqual({
    writes: counted('WRU'),
    reads: counted('RRU'),
    objects: counted('object'),
  });
});

test('alarms are as many as the template has, and read as many metrics', async () => {
  const template = await loadTemplate();
  const alarms = entriesOf(template, 'AWS::CloudWatch::Alarm')
    .map(([, { Properties }]) => Properties)
    // The examples' tools are not deployed by default.
    .filter(({ AlarmName }) => !String(AlarmName).endsWith('-tool-refund'));
  const metricsOf = (value: unknown): number =>
    value === undefined
      ? 1
      : (value as { MetricStat?: object }[]).filter(({ MetricStat }) => MetricStat).length;
  const metrics = alarms.reduce((sum, { Metrics }) => sum + metricsOf(Metrics), 0);
  const [, count, read, usd] =
    /(\d+) alarms that read (\d+) metrics at \$0\.10 \(about \$(\d+)\)/.exec(operations) ?? [];
  expect([count, read, usd].map(Number)).toEqual([alarms.length, metrics, Math.round(metrics * 0.1)]);
});
