import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchCloud, startBenchCloud, type Trips } from '../cloud.ts';
import type { Row } from '../report.ts';
import { changeOne, createWorkspace, type Workspace } from '../repositories.ts';
import type { Benchmark } from './context.ts';

const BUDGET = { checkpoint: 2, rollback: 3, rehydrate: 4 } as const;
/** More than fits into a command's answer. */
const LARGE_BYTES = 200_000;

const writeLarge = async ({ root, repositories }: Workspace): Promise<void> => {
  for (const name of repositories) await writeFile(join(root, name, 'large.bin'), randomBytes(LARGE_BYTES));
};

const forgetShadows = async ({ root, repositories }: Workspace): Promise<void> => {
  for (const name of ['.', ...repositories])
    await rm(join(root, name, '.agent-shadow'), { recursive: true, force: true });
};

/** One session with so many repositories, through every operation. */
const measureSession = async (cloud: BenchCloud, count: number): Promise<Record<string, Trips>> => {
  const session = await cloud.openSession(`trips-${count}`);
  const workspace = await createWorkspace(session.root, count, 20);
  await session.start();
  const first = await session.checkpoint();
  await changeOne(workspace, 1);
  const small = await cloud.countTrips(() => session.checkpoint());
  await writeLarge(workspace);
  const large = await cloud.countTrips(() => session.checkpoint());
  const captured = await cloud.countTrips(() => session.rollback(first.checkpointId));
  const target = await session.checkpoint();
  await changeOne(workspace, 2);
  await writeLarge(workspace);
  await forgetShadows(workspace);
  const worst = await cloud.countTrips(() => session.rollback(target.checkpointId));
  const rehydrated = await cloud.countTrips(async () => {
    await cloud.killSandbox(await session.rehydrate(target.checkpointId));
  });
  return { small, large, captured, worst, rehydrated };
};

const CASES: readonly [key: string, what: string, operation: keyof typeof BUDGET][] = [
  ['small', 'checkpoint', 'checkpoint'],
  ['large', 'checkpoint, more than its answer can carry', 'checkpoint'],
  ['captured', 'rollback', 'rollback'],
  ['worst', 'rollback, large uncaptured work and the shadows deleted', 'rollback'],
  ['rehydrated', 'rehydrate, beside the creation of the sandbox', 'rehydrate'],
];

export const tripsBenchmark: Benchmark = {
  name: 'trips',
  title: 'sequential sandbox round trips for 1, 5 and 20 repositories',
  run: async ({ place, quick, say }) => {
    await using cloud = await startBenchCloud(await place.directory('trips'));
    const sessions: Record<string, Trips>[] = [];
    for (const count of quick ? [1, 5] : [1, 5, 20]) {
      say(`${count} repositories`);
      sessions.push(await measureSession(cloud, count));
    }
    return CASES.map(([key, what, operation]): Row => {
      const trips = sessions.map((session) => session[key]?.sequential ?? Number.NaN);
      const most = Math.max(...trips);
      const measured = trips.join(' / ');
      return { what, measured, value: most, roundTrips: most, unit: 'trips', budget: BUDGET[operation] };
    });
  },
};
