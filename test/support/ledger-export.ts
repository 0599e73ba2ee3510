/** Objects of the ledger's export in memory, sagas with every fate that an effect can have, and a reader of tables as Athena is. */
import * as fc from 'fast-check';
import * as z from 'zod';
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';
import { createExportSaga, type ExportStore } from '../../core/saga/ledger/export-ledger.ts';
import type { Fact, LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { createResolver } from '../../local/resolve.ts';
import type { Template } from '../../local/template.ts';
import { attempt, committed, ledgerOf, openLedger, started, stepOf, undo, unknown } from './ledger-world.ts';
import { entriesOf } from './template.ts';

/** Conditions as S3's. `fail` is told which call it is, from 1 on, and throws in its place or after it. */
export const memoryExports = (fail: (call: number, when: 'before' | 'after') => void = () => undefined) => {
  const objects = new Map<string, { seq: number; form: number; version: string; body: string }>();
  let versions = 0;
  let calls = 0;
  const store: ExportStore = {
    find: async (key) => {
      const call = (calls += 1);
      fail(call, 'before');
      const found = objects.get(key);
      return found === undefined ? undefined : { seq: found.seq, form: found.form, version: found.version };
    },
    put: async ({ key, seq, form, body }, before) => {
      const call = (calls += 1);
      fail(call, 'before');
      if (objects.get(key)?.version !== before?.version) return false;
      versions += 1;
      objects.set(key, { seq, form, version: `v${versions}`, body });
      fail(call, 'after');
      return true;
    },
  };
  return { store, objects, calls: () => calls, texts: () => textsOf(objects) };
};

const textsOf = (objects: ReadonlyMap<string, { body: string }>): Map<string, string> =>
  new Map([...objects].map(([key, { body }]) => [key, body]));

export const clock = { now: () => new Date('2026-03-20T00:00:00Z'), sleep: () => Promise.resolve() };

/** What is there when each saga was exported once, at its end. */
export const exportedOf = async (ledgers: readonly LedgerEntry[][]): Promise<Map<string, string>> => {
  const { store } = openLedger(ledgers);
  const exports = memoryExports();
  const exportSaga = createExportSaga({ store, exports: exports.store, clock });
  for (const [first] of ledgers) if (first !== undefined) await exportSaga(first.sagaId);
  return exports.texts();
};

const FATES = [
  'stands',
  'undone',
  'undoing',
  'delayed',
  'failed',
  'resolved',
  'skipped',
  'retried',
  'blocked',
  'in_doubt',
  'doubt_failed',
  'doubt_retried',
  'doubt_undone',
] as const;
type Fate = (typeof FATES)[number];

const error = { name: 'No', message: 'no,\n"really" \u2028 not' };

/** What it ends with in doubt, and the way back from there is that of another one. */
const DOUBTS: { readonly [fate in Fate]?: Fate } = {
  in_doubt: 'stands',
  doubt_failed: 'failed',
  doubt_retried: 'retried',
  doubt_undone: 'undone',
};

/** The facts by which an effect comes to it, after its call. */
const factsOf = (fate: Fate, step: number, tool: string, back: object): Fact[] => {
  const place = stepOf(step, tool);
  const begun: Fact = { direction: 'undo', status: 'started', ...place, ...attempt, deadlineMs: 0 };
  const failed: Fact = undo('failed', step, tool);
  const failedSaga: Fact = { direction: 'saga', status: 'compensation_failed' };
  const done: Fact = { direction: 'saga', status: 'compensated' };
  const operator = (status: 'retried' | 'resolved' | 'skipped'): Fact => ({
    direction: 'operator',
    status,
    ...place,
    evidence: 'ticket "7"',
  });
  const committedBack = undo('committed', step, tool, { externalRef: `back-${step}`, ...back });
  switch (DOUBTS[fate] ?? fate) {
    case 'in_doubt':
    case 'doubt_failed':
    case 'doubt_retried':
    case 'doubt_undone':
      throw new Error('each of them stands for another one');
    case 'stands':
      if (fate === 'in_doubt') return [failedSaga];
      return [];
    case 'undone':
      return [begun, committedBack];
    case 'undoing':
      return [begun, { direction: 'undo', status: 'rejected', ...place, ...attempt, error }];
    case 'delayed':
      return [
        begun,
        {
          direction: 'undo',
          status: 'delayed',
          ...place,
          error,
          attempts: 3,
          unreached: 0,
          sinceMs: 0,
          untilMs: 1,
        },
      ];
    case 'failed':
      return [begun, failed, failedSaga];
    case 'resolved':
      return [begun, failed, failedSaga, operator('resolved'), done];
    case 'skipped':
      return [begun, failed, failedSaga, operator('skipped'), done];
    case 'retried':
      return [begun, failed, failedSaga, operator('retried'), begun, committedBack, done];
    case 'blocked':
      return [{ direction: 'undo', status: 'blocked', ...place, error, resourceKey: null }, failedSaga];
  }
};

const quarters = fc.integer({ min: -1e9, max: 1e9 }).map((value) => (value / 4).toFixed(2));
const large = fc
  .tuple(fc.bigInt({ min: -(10n ** 24n) + 1n, max: 10n ** 24n - 1n }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, rest]) => `${whole}.${String(rest).padStart(6, '0')}`);

const effectsOf = (amount: fc.Arbitrary<string>) =>
  fc.record({
    hour: fc.integer({ min: 0, max: 200 }),
    later: fc.integer({ min: 0, max: 100 }),
    tool: fc.constantFrom('pay', 'book', 'mail'),
    amount: fc.option(amount),
    currency: fc.constantFrom('EUR', 'USD'),
    amountDirection: fc.constantFrom(...AMOUNT_DIRECTIONS),
    fate: fc.constantFrom(...FATES),
    back: amount,
  });

/** `exact`: amounts of any size; else of quarters, which a query engine without decimals adds exactly too. */
export const sagasOf = (exact: boolean): fc.Arbitrary<LedgerEntry[][]> =>
  fc
    .array(
      fc.record({
        agent: fc.constantFrom('shop', 'robot "x"\n'),
        effects: fc.array(effectsOf(exact ? large : quarters), { minLength: 1, maxLength: 6 }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((sagas) =>
      sagas.map(({ agent, effects }, index) => {
        const facts = effects.flatMap(
          ({ hour, later, tool, amount, currency, amountDirection, fate, back }, step) => {
            const price = amount === null ? {} : { amount, currency, amountDirection };
            const forward: [number, Fact][] = [
              [
                hour,
                started(step, tool, {
                  resourceKey: `customer-${step}`,
                  ...(fate === 'in_doubt' ? { effect: 'irreversible' } : {}),
                }),
              ],
              [
                hour,
                DOUBTS[fate] === undefined
                  ? committed(step, tool, { ...price, externalRef: `ref-${index}-${step}` })
                  : unknown(step, tool),
              ],
            ];
            const undone = factsOf(fate, step, tool, amount === null ? {} : { amount: back, currency });
            // No two at the same moment, so that each failure of a saga has a time of its own.
            const laterFacts = undone.map((fact, at): [number, Fact] => [
              hour + later + step / 10 + (at + 1) / 100,
              fact,
            ]);
            return [...forward, ...laterFacts];
          },
        );
        return ledgerOf(
          `root:${index}`,
          agent,
          facts.toSorted(([one], [other]) => one - other),
        );
      }),
    );

const tableSchema = z.object({
  DatabaseName: z.string(),
  TableInput: z.object({
    Name: z.string(),
    PartitionKeys: z.array(z.object({ Name: z.string(), Type: z.literal('string') })),
    Parameters: z.record(z.string(), z.string()),
    StorageDescriptor: z.object({
      Columns: z.array(z.object({ Name: z.string(), Type: z.enum(['string', 'int']) })),
      Location: z.string(),
      InputFormat: z.literal('org.apache.hadoop.mapred.TextInputFormat'),
      SerdeInfo: z.object({
        SerializationLibrary: z.literal('org.apache.hive.hcatalog.data.JsonSerDe'),
      }),
    }),
  }),
});

const CELLS = {
  string: z.string().nullable(),
  int: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .nullable(),
} as const;

const DAY_MS = 86_400_000;

/** Every day of a projected range, whose end is `NOW`. */
const projectedDays = (range: string, now: string): string[] => {
  const [first = '', last = ''] = range.split(',');
  const until = Date.parse(last === 'NOW' ? now.slice(0, 10) : last);
  const count = Math.round((until - Date.parse(first)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, day) =>
    new Date(Date.parse(first) + day * DAY_MS).toISOString().slice(0, 10),
  );
};

/** A table as its definition says, with its own columns, format and projected partitions. */
export const openTable = (template: Template, name: string) => {
  const resolver = createResolver(template);
  const found = entriesOf(template, 'AWS::Glue::Table')
    .map(([, { Properties }]) => tableSchema.parse(resolver.value({ ...Properties, CatalogId: '' })))
    .find(({ TableInput }) => TableInput.Name === name);
  if (found === undefined) throw new Error(`no table ${name}`);
  const { Parameters, PartitionKeys, StorageDescriptor } = found.TableInput;
  const columns = z.strictObject(
    Object.fromEntries(StorageDescriptor.Columns.map((one) => [one.Name, CELLS[one.Type]])),
  );
  const partition = PartitionKeys[0]?.Name ?? '';
  const [, bucket = ''] = /^s3:\/\/([^/]+)\//.exec(StorageDescriptor.Location) ?? [];
  const names = [...StorageDescriptor.Columns.map((one) => one.Name), partition];

  /** Each line of each object in a partition, as a row with its day. */
  const rows = (
    objects: ReadonlyMap<string, string>,
    now: string,
  ): Record<string, string | number | null>[] => {
    const keys = [...objects.keys()].toSorted();
    return projectedDays(Parameters[`projection.${partition}.range`] ?? '', now).flatMap((day) => {
      const place = (Parameters['storage.location.template'] ?? '').replace(`\${${partition}}`, day);
      const prefix = place.slice(`s3://${bucket}/`.length);
      return keys
        .filter((key) => key.startsWith(prefix) && !/^[_.]/.test(key.slice(key.lastIndexOf('/') + 1)))
        .flatMap((key) => (objects.get(key) ?? '').split(/\r\n|\n|\r/))
        .filter((line) => line !== '')
        .map((line) => ({ ...columns.parse(JSON.parse(line)), [partition]: day }));
    });
  };
  return { database: found.DatabaseName, name, bucket, names, rows };
};
