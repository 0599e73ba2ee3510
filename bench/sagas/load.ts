/** Thousands of sagas on the embedded cloud: what it accepts and finishes in a second, how long a step takes, what it keeps. */
import Table from 'cli-table3';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import type { Usage } from '../cloud-process.ts';
import { megabytes, quantile, rate, seconds } from '../numbers.ts';
import type { Place } from '../place.ts';
import { type SagaCloud, startSagaCloud } from './cloud.ts';

export interface Load {
  sagas: number;
  /** Callers, each of whom starts the next saga when the one before has ended. */
  atOnce: number;
  /** No further saga is started after this; those that run are waited for. */
  minutes?: number | undefined;
}

const STEPS = 3;
/** Ledgers that are read to see how long steps took. */
const SAMPLE = 100;
const READS_AT_ONCE = 8;
const EVERY = 1_000;
const FIRST = 100;
/** Without any end for so long something hangs, and the run says so. */
const STALLED_MS = 300_000;

const plan = (resource: string) => ({
  steps: Array.from({ length: STEPS }, (_, n) => ({
    id: `s${n}`,
    tool: 'change',
    arguments: { resource: `${resource}-${n}`, workMs: 0 },
  })),
});

interface Seen {
  sagaId: string;
  acceptMs: number;
  /** From the call to the event of the end. */
  wholeMs: number;
  name: string;
}

/** From one intent to the next thing that was written after its outcome, as the ledger says. */
const stepTimes = (rows: readonly LedgerRow[]): number[] => {
  const starts = rows.filter(({ direction, status }) => direction === 'forward' && status === 'started');
  const last = rows.at(-1);
  const times = [...starts, ...(last === undefined ? [] : [last])].map((row) => Date.parse(row.at));
  return times.slice(1).map((time, n) => time - (times[n] ?? time));
};

const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const memory = ({ heapBytes, externalBytes, residentBytes, databaseResidentBytes }: Usage): string =>
  `heap ${megabytes(heapBytes)}, buffers ${megabytes(externalBytes)}, resident ${megabytes(residentBytes)}, database ${megabytes(databaseResidentBytes)}`;

/** Answers rows for the table. `Error` when a saga is lost, ends in another way than it should, or is refused. */
const runLoad = async (
  cloud: SagaCloud,
  { sagas, atOnce, minutes = Number.POSITIVE_INFINITY }: Load,
): Promise<[string, string][]> => {
  const seen: Seen[] = [];
  const failures: string[] = [];
  const usages: { after: number; usage: Usage; ms: number }[] = [];
  const began = performance.now();
  let acceptedBy = began;
  let next = 0;
  const lastStart = began + minutes * 60_000;
  /** One after the other: each is a question to the cloud. */
  let noting = Promise.resolve();
  const note = (after: number): Promise<void> => (noting = noting.then(() => noteNow(after)));
  const noteNow = async (after: number): Promise<void> => {
    const usage = await cloud.usage();
    usages.push({ after, usage, ms: performance.now() - began });
    if (after % EVERY === 0)
      progress(
        `  ${after} of ${sagas}: ${rate(after, performance.now() - began)} a second, ${memory(usage)}`,
      );
  };
  await note(0);
  const one = async (n: number): Promise<void> => {
    const sagaId = `l${atOnce}-${n}`;
    const started = performance.now();
    try {
      await cloud.invoke('start-saga', { sagaId, plan: plan(sagaId), input: {}, requestedBy: 'bench' });
    } catch (error) {
      failures.push(`${sagaId}: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    const accepted = performance.now();
    acceptedBy = Math.max(acceptedBy, accepted);
    const name = await Promise.race([
      cloud.ended(sagaId),
      new Promise<string>((resolve) => setTimeout(resolve, STALLED_MS, 'stalled').unref()),
    ]);
    seen.push({ sagaId, acceptMs: accepted - started, wholeMs: performance.now() - started, name });
    if (seen.length % FIRST === 0) await note(seen.length);
  };
  const caller = async (): Promise<void> => {
    while (next < sagas && performance.now() < lastStart) await one((next += 1));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, sagas) }, caller));
  const wallMs = performance.now() - began;
  if (usages.at(-1)?.after !== seen.length) await note(seen.length);

  const wrong = seen.filter(({ name }) => name !== 'saga.completed');
  for (const { sagaId, name } of wrong) failures.push(`${sagaId}: ${name}`);
  const every = Math.max(1, Math.floor(seen.length / SAMPLE));
  const sample = seen.filter((_, n) => n % every === 0);
  const times = (
    await mapAtOnce(sample, READS_AT_ONCE, async ({ sagaId }) => stepTimes(await cloud.rows(sagaId)))
  ).flat();
  const usageAt = (after: number) => usages.find((one) => one.after === after);
  const cost = (from: number, to: number): number => {
    const [first, last] = [usageAt(from), usageAt(to)];
    if (first === undefined || last === undefined) return Number.NaN;
    const cpu = ({ cpuMs, databaseCpuMs }: Usage) => cpuMs + databaseCpuMs;
    return (cpu(last.usage) - cpu(first.usage)) / (to - from);
  };
  const accepts = seen.map(({ acceptMs }) => acceptMs);
  const wholes = seen.map(({ wholeMs }) => wholeMs);
  const whole = Math.floor(seen.length / FIRST) * FIRST;
  const [first, last] = [cost(0, FIRST), cost(whole - FIRST, whole)];
  const kept = usages.filter(({ after }, n) => after % EVERY === 0 || n === usages.length - 1);
  if (failures.length > 0) {
    process.exitCode = 1;
    progress(`  ${failures.length} not as they should be: ${failures.slice(0, 5).join('; ')}`);
  }
  return [
    ['sagas, at once', `${seen.length}${seen.length < sagas ? ` of ${sagas}` : ''}, ${atOnce}`],
    ['accepted a second', rate(seen.length, acceptedBy - began)],
    ['finished a second', rate(seen.length, wallMs)],
    ['start: p50, p99, longest', [0.5, 0.99, 1].map((share) => seconds(quantile(accepts, share))).join(', ')],
    ['a step: p50, p99, longest', [0.5, 0.99, 1].map((share) => seconds(quantile(times, share))).join(', ')],
    [
      'call to end: p50, p99, longest',
      [0.5, 0.99, 1].map((share) => seconds(quantile(wholes, share))).join(', '),
    ],
    ['not completed, or refused', String(failures.length)],
    ['told to call again', String(cloud.repeats())],
    [
      'processor time of a saga: first 100, last 100',
      `${first.toFixed(0)} ms, ${last.toFixed(0)} ms (${(last / first).toFixed(2)}x)`,
    ],
    [
      'longest that the cloud did one thing and nothing else',
      `${Math.max(...usages.slice(1).map(({ usage }) => usage.stalledMs)).toFixed(0)} ms`,
    ],
    ...kept.map(({ after, usage }, n): [string, string] => [
      `after ${after}`,
      `${n === 0 ? '' : `${cost(kept[n - 1]?.after ?? 0, after).toFixed(0)} ms each since, `}${memory(usage)}`,
    ]),
  ];
};

const loadTable = (rows: readonly [string, string][]): string => {
  const table = new Table({ style: { head: [], border: [] } });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
};

/** What one of these sagas writes and how often the machine moves, in a cloud that counts. */
const countOne = async (place: Place): Promise<string> => {
  await using cloud = await startSagaCloud(await place.directory('load-counted'), true);
  const sagas = 20;
  const before = (await cloud.units()).writes;
  for (let n = 0; n < sagas; n += 1) {
    const sagaId = `counted-${n}`;
    await cloud.invoke('start-saga', { sagaId, plan: plan(sagaId), input: {}, requestedBy: 'bench' });
    await cloud.ended(sagaId);
  }
  const units = ((await cloud.units()).writes - before) / sagas;
  const transitions = await cloud.transitions('counted-0');
  return `a saga of ${STEPS} steps: ${transitions} transitions, ${units.toFixed(1)} write units with indexes`;
};

/** Each in a cloud of its own. */
export const measureLoad = async (place: Place, loads: readonly Load[]): Promise<void> => {
  process.stdout.write(`${await countOne(place)}\n`);
  for (const load of loads) {
    progress(`load: ${load.sagas} sagas, ${load.atOnce} at once`);
    await using cloud = await startSagaCloud(await place.directory(`load-${load.sagas}-${load.atOnce}`));
    process.stdout.write(`${loadTable(await runLoad(cloud, load))}\n`);
  }
};
