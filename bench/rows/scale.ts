/** One of everything large: many files, many repositories, many branches. */
import { startBenchCloud } from '../cloud.ts';
import { compare } from '../measure.ts';
import { plainCheckpoint, plainClone } from '../plain-git.ts';
import { mustRun } from '../processes.ts';
import { processorRow, type Row } from '../report.ts';
import { changeOne, createWorkspace, type Workspace } from '../repositories.ts';
import type { Benchmark, Context } from './context.ts';

interface Case {
  what: string;
  repositories: number;
  files: number;
  branches?: number;
  /** Of a checkpoint, in processor time. */
  budget: number;
  /** Rehydrated, too. */
  rehydrated?: boolean;
}

/** In processor time. */
const REHYDRATE_BUDGET = 1;

const CASES = (quick: boolean): Case[] => {
  const size = (whole: number): number => (quick ? whole / 20 : whole);
  return [
    { what: 'files in 1 repository', repositories: 1, files: size(100_000), budget: 0.5, rehydrated: true },
    { what: 'repositories of 20 files', repositories: size(200), files: 20, budget: 0.1 },
    { what: 'branches in 1 repository', repositories: 1, files: 100, branches: size(20_000), budget: 1 },
  ];
};

const makeBranches = ({ root, repositories }: Workspace, count: number): Promise<unknown> =>
  mustRun(
    `cd ${repositories[0]} && head=$(git rev-parse HEAD) && for ((i = 0; i < ${count}; i++)); do echo "create refs/heads/topic/$i $head"; done | git update-ref --stdin && git pack-refs --all`,
    root,
  );

const countOf = ({ repositories, files, branches }: Case): number =>
  branches ?? (repositories > 1 ? repositories : files);

const measure = async ({ place, quick, say }: Context, one: Case): Promise<Row[]> => {
  const title = `${countOf(one).toLocaleString('en')} ${one.what}`;
  say(title);
  const name = `scale-${one.repositories}-${one.files}`;
  await using cloud = await startBenchCloud(await place.directory(name));
  const session = await cloud.openSession('scale');
  const workspace = await createWorkspace(session.root, one.repositories, one.files);
  if (one.branches !== undefined) await makeBranches(workspace, one.branches);
  const floor = await plainCheckpoint(workspace, await place.directory(`${name}-plain`));
  await session.start();
  let version = 1;
  let checkpointId = '';
  const taken = await compare({
    repetitions: quick ? 2 : 6,
    prepare: () => changeOne(workspace, version++),
    floor,
    subject: async () => {
      ({ checkpointId } = await session.checkpoint());
    },
  });
  const { budget } = one;
  const rows = [
    processorRow(`${title}: checkpoint of 1 changed file each, against plain git`, taken, { budget }),
  ];
  if (one.rehydrated !== true) return rows;

  say(`${title}: rehydrate`);
  const copies = await place.directory(`${name}-clones`);
  const made: string[] = [];
  let copy = 0;
  const rehydrated = await compare({
    repetitions: quick ? 1 : 2,
    prepare: async () => {
      for (const sandboxId of made.splice(0)) await cloud.killSandbox(sandboxId);
    },
    floor: () => plainClone(workspace, `${copies}/${(copy += 1)}`),
    subject: async () => void made.push(await session.rehydrate(checkpointId)),
  });
  return [
    ...rows,
    processorRow(`${title}: rehydrate, against git clone --local and its checkout`, rehydrated, {
      budget: REHYDRATE_BUDGET,
    }),
  ];
};

export const scaleBenchmark: Benchmark = {
  name: 'scale',
  title: 'large: the whole function call',
  run: async (context) => {
    const rows: Row[] = [];
    for (const one of CASES(context.quick)) rows.push(...(await measure(context, one)));
    return rows;
  },
};
