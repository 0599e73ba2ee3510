import { BUNDLE_LIMITS } from '../../core/checkpoint/capture/limits.ts';
import { type BenchCloud, type BenchSession, type CheckpointFacts, startBenchCloud } from '../cloud.ts';
import { itemBytes } from '../items.ts';
import { compare, median } from '../measure.ts';
import { type Row, ratioRow } from '../report.ts';
import { changeOne, createWorkspace, type Workspace } from '../repositories.ts';
import type { Benchmark, Context } from './context.ts';

const CHECKPOINT_BUDGET = 1.1;
const REHYDRATE_BUDGET = 1.2;
const END_OF_CHAIN_BUDGET = 1.3;
const REPOSITORIES = 5;
/** The links of these chains are light; the baseline's is one of them. The last checkpoint of a chain reads them all. */
const END_OF_CHAIN = BUNDLE_LIMITS.maxLightLinks - 1;
const EARLY = 5;

interface History {
  session: BenchSession;
  workspace: Workspace;
  /** In order, without the baseline. */
  taken: CheckpointFacts[];
}

const openHistory = async (cloud: BenchCloud, name: string, files: number): Promise<History> => {
  const session = await cloud.openSession(name);
  const workspace = await createWorkspace(session.root, REPOSITORIES, files);
  await session.start();
  return { session, workspace, taken: [] };
};

const takeNext = async ({ session, taken }: History): Promise<void> => {
  taken.push(await session.checkpoint());
};

const change = ({ workspace, taken }: History): Promise<void> => changeOne(workspace, taken.length + 1);

const advance = async (history: History, count: number, say: Context['say']): Promise<void> => {
  while (history.taken.length < count) {
    if (history.taken.length % 50 === 0) say(`checkpoint ${history.taken.length + 1} of ${count}`);
    await change(history);
    await takeNext(history);
  }
};

/** S3 and table bytes of the last `count` checkpoints, the median. */
const bytesOf = async (cloud: BenchCloud, { session, taken }: History, count: number): Promise<number> => {
  const last = taken.slice(-count);
  const items = await itemBytes(
    cloud.environment,
    session.sessionId,
    last.map(({ seq }) => seq),
  );
  return median(
    last.map(({ repositories }, index) =>
      repositories.reduce((total, { bundleBytes }) => total + bundleBytes, items[index] ?? 0),
    ),
  );
};

const compareCheckpoints = async (cloud: BenchCloud, late: History, files: number): Promise<Row[]> => {
  const early = await openHistory(cloud, 'early', files);
  const repetitions = 2 * EARLY - 2;
  const number = late.taken.length + EARLY;
  const time = await compare({
    repetitions,
    prepare: () => Promise.all([change(early), change(late)]),
    floor: () => takeNext(early),
    subject: () => takeNext(late),
  });
  const floorBytes = await bytesOf(cloud, early, repetitions);
  const bytes = await bytesOf(cloud, late, repetitions);
  return [
    ratioRow(`checkpoint ${number} against ${EARLY}: time`, time, { budget: CHECKPOINT_BUDGET }),
    {
      what: `checkpoint ${number} against ${EARLY}: bytes in bucket and table`,
      floor: `${floorBytes.toFixed(0)} B`,
      measured: `${bytes.toFixed(0)} B`,
      value: bytes / floorBytes,
      unit: 'x',
      budget: CHECKPOINT_BUDGET,
    },
  ];
};

const compareRehydrates = async (
  cloud: BenchCloud,
  { session, taken }: History,
  number: number,
  repetitions: number,
): Promise<Row> => {
  const made: string[] = [];
  const rehydrate = async (count: number): Promise<void> => {
    made.push(await session.rehydrate(taken[count - 1]?.checkpointId ?? ''));
  };
  const clear = async (): Promise<void> => {
    for (const sandboxId of made.splice(0)) await cloud.killSandbox(sandboxId);
  };
  const trips = await cloud.countTrips(() => rehydrate(number));
  const time = await compare({
    repetitions,
    prepare: clear,
    floor: () => rehydrate(10),
    subject: () => rehydrate(number),
  });
  await clear();
  const where = number === END_OF_CHAIN ? ' (every link of a chain)' : '';
  return ratioRow(`rehydrate at checkpoint ${number}${where} against 10`, time, {
    budget: number === END_OF_CHAIN ? END_OF_CHAIN_BUDGET : REHYDRATE_BUDGET,
    roundTrips: trips.sequential,
  });
};

export const historyBenchmark: Benchmark = {
  name: 'history',
  title: 'long sessions: 5 repositories x 500 files, 1 file changed each per checkpoint',
  run: async ({ place, quick, say }) => {
    const files = quick ? 50 : 500;
    await using cloud = await startBenchCloud(await place.directory('history'));
    const late = await openHistory(cloud, 'late', files);
    const repetitions = quick ? 1 : 5;
    await advance(late, quick ? 36 : 200, say);
    say(`rehydrate at checkpoint ${late.taken.length} and ${END_OF_CHAIN}`);
    const rows = [
      await compareRehydrates(cloud, late, late.taken.length, repetitions),
      await compareRehydrates(cloud, late, END_OF_CHAIN, repetitions),
    ];
    await advance(late, (quick ? 40 : 500) - EARLY, say);
    say('checkpoints of a young session and of this one');
    return [...(await compareCheckpoints(cloud, late, files)), ...rows];
  },
};
