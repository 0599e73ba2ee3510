import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startBenchCloud } from '../cloud.ts';
import { startDirectSession } from '../direct.ts';
import { compare, rest } from '../measure.ts';
import { plainBranch, plainMerge } from '../plain-git.ts';
import { mustRun } from '../processes.ts';
import { processorRow, type Row, ratioRow } from '../report.ts';
import { createWorkspace, type Workspace, writeVersion } from '../repositories.ts';
import { type Benchmark, type Context, filesOf } from './context.ts';

/** Of processor time. */
const COMPOSE_BUDGET = 1;
const APPLY_BUDGET = 1.2;
/** Of what the history has, which is what a second upload of it would be. */
const FORK_BUDGET = 0.05;
const REPOSITORIES = 5;

/** One file of each repository, of its own half: what two sides change goes together. */
const oneOf = (files: number, half: 0 | 1, version: number) => ({
  from: half * Math.floor(files / 2) + (version % Math.floor(files / 2)),
  count: 1,
});

/** The same in plain git: a branch for each side. Stands on the one of ours. */
const plainDiverge = async (plain: Workspace, version: number, files: number): Promise<void> => {
  const stand = () => mustRun('for r in */; do git -C "$r" checkout -q main; done', plain.root);
  await stand();
  await writeVersion(plain, version, oneOf(files, 1, version));
  await plainBranch(plain, 'theirs', 'main');
  await stand();
  await writeVersion(plain, version, oneOf(files, 0, version));
  await plainBranch(plain, 'main', 'main');
};

/** The command that composes, by itself: what `git merge` does but for writing the files. Nothing is captured in it. */
const composeRow = async ({ place, quick, say }: Context): Promise<Row> => {
  const files = filesOf(quick);
  say('composing and git merge');
  const top = await place.directory('compose');
  const plain = await createWorkspace(join(top, 'plain'), REPOSITORIES, files);
  const ours: Workspace = { ...plain, root: join(top, 'ours') };
  const theirs: Workspace = { ...plain, root: join(top, 'theirs') };
  await mustRun('cp -a plain ours && cp -a plain theirs', top);
  const session = startDirectSession(ours.root);
  const fork = startDirectSession(theirs.root);
  const base = await session.capture();
  let change = await fork.capture();
  const measured = await compare({
    repetitions: quick ? 1 : 8,
    prepare: async (repetition) => {
      const version = repetition + 1;
      await writeVersion(theirs, version, oneOf(files, 1, 0));
      change = await fork.capture();
      await writeVersion(ours, version, oneOf(files, 0, 0));
      await session.capture();
      await plainDiverge(plain, version, files);
    },
    floor: () => plainMerge(plain, 'theirs'),
    subject: () => session.compose(base, change),
  });
  return processorRow('1 file changed on each side: composing, the command in the sandbox', measured, {
    budget: COMPOSE_BUDGET,
  });
};

const mergeRows = async ({ place, quick, say }: Context): Promise<Row[]> => {
  const files = filesOf(quick);
  say('merge and git merge');
  await using cloud = await startBenchCloud(await place.directory('merge'));
  const session = await cloud.openSession('target');
  const plain = await createWorkspace(await place.directory('merge-plain'), REPOSITORIES, files);
  const ours = await createWorkspace(session.root, REPOSITORIES, files);
  await session.start();
  const fork = await session.fork();
  const theirs: Workspace = { ...ours, root: fork.root };
  let version = 0;

  /** Both sides change a file in every repository, here and in plain git. */
  const diverge = async (): Promise<void> => {
    version += 1;
    await writeVersion(theirs, version, oneOf(files, 1, version));
    await fork.checkpoint();
    await writeVersion(ours, version, oneOf(files, 0, version));
    await session.checkpoint();
    await plainDiverge(plain, version, files);
  };
  const merged = await compare({
    repetitions: quick ? 1 : 8,
    prepare: diverge,
    floor: () => plainMerge(plain, 'theirs'),
    subject: () => session.merge(fork),
  });
  await diverge();
  const trips = await cloud.countTrips(() => session.merge(fork));

  say('merge and rollback');
  let back = await session.checkpoint();
  const applied = await compare({
    repetitions: quick ? 1 : 8,
    prepare: async () => {
      version += 1;
      await writeVersion(theirs, version, oneOf(files, 1, version));
      await fork.checkpoint();
      back = await session.checkpoint();
      await writeVersion(ours, version, oneOf(files, 1, version));
      await session.checkpoint();
      await session.rollback(back.checkpointId);
      await rest();
    },
    floor: async () => {
      // As many files as the merge writes.
      await writeVersion(ours, version + 1, oneOf(files, 0, version));
      await session.rollback(back.checkpointId);
    },
    subject: () => session.merge(fork),
  });
  say(`merge ${merged.ratio.toFixed(2)}x, CPU ${merged.cpuRatio?.toFixed(2)}x of git merge`);
  return [
    ratioRow('1 file changed on each side: the whole function call, against git merge', merged, {
      roundTrips: trips.sequential,
    }),
    ratioRow('1 file comes: the whole function call, against a rollback of 1 file each', applied, {
      budget: APPLY_BUDGET,
    }),
  ];
};

const bytesBelow = async (directory: string): Promise<number> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((total, size) => total + size, 0);
};

const manyCommits = (count: number): string => `mkdir -p history && cd history && git init -q -b main && {
  for ((i = 1; i <= ${count}; i++)); do
    printf 'commit refs/heads/main\\ncommitter B <b@example.com> %d +0000\\ndata <<E\\ncommit %d\\nE\\nM 644 inline f\\ndata <<E\\nline %d\\nE\\n' $((1700000000 + i)) $i $i
  done
} | git fast-import --quiet && git reset -q --hard`;

const forkRow = async ({ place, quick, say }: Context): Promise<Row> => {
  const commits = quick ? 5_000 : 100_000;
  say(`fork of a repository with ${commits} commits`);
  const directory = await place.directory('fork');
  await using cloud = await startBenchCloud(directory);
  const session = await cloud.openSession('long');
  await mkdir(session.root, { recursive: true });
  await mustRun(manyCommits(commits), session.root);
  await session.start();
  const objects = join(directory, 's3');
  const history = await bytesBelow(objects);
  await session.fork();
  const added = (await bytesBelow(objects)) - history;
  say(`${added} bytes beside ${history}`);
  return {
    what: `fork of a repository with ${commits.toLocaleString('en')} commits: bytes stored, against its history`,
    floor: `${(history / 1000).toFixed(0)} kB`,
    measured: `${(added / 1000).toFixed(1)} kB`,
    value: added / history,
    unit: 'x',
    budget: FORK_BUDGET,
  };
};

export const mergeBenchmark: Benchmark = {
  name: 'merge',
  title: 'merge of 5 repositories x 2,500 files; fork of a long history',
  run: async (context) => [await forkRow(context), await composeRow(context), ...(await mergeRows(context))],
};
