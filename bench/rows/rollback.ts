import { startBenchCloud } from '../cloud.ts';
import { startDirectSession } from '../direct.ts';
import { compare, rest } from '../measure.ts';
import { plainCheckout } from '../plain-git.ts';
import { processorRow } from '../report.ts';
import { commitAll, createWorkspace, type Workspace, writeVersion } from '../repositories.ts';
import { type Benchmark, type Context, filesOf } from './context.ts';

const REPOSITORIES = 5;

interface Case {
  what: string;
  /** Files that differ between the two states. */
  count: number;
  /** Of processor time: of the commands, and of the function call. */
  budgets: { commands: number; call: number };
}

/** Two commits to check out by plain git: `first` and `main`. */
const makeFloor = async (root: string, files: number, { count }: Case): Promise<Workspace> => {
  const workspace = await createWorkspace(root, REPOSITORIES, files);
  await writeVersion(workspace, 1, { from: 0, count });
  await commitAll(workspace, 'second');
  return workspace;
};

/** Even, so that both ways are measured. */
const repetitionsOf = ({ quick }: Context, { count }: Case): number => {
  if (quick) return 1;
  return count === 1 ? 16 : 8;
};

/** Back and forth between the two states: every repetition restores the one it does not stand on. */
const backAndForth = (
  floor: Workspace,
  subject: (toFirst: boolean) => Promise<unknown>,
  repetitions: number,
) =>
  compare({
    repetitions,
    prepare: rest,
    floor: (repetition) => plainCheckout(floor, repetition % 2 === 0 ? 'main~1' : 'main'),
    subject: (repetition) => subject(repetition % 2 === 0),
  });

const commandsAlone = async (context: Context, files: number, one: Case) => {
  const { place, say } = context;
  say(`${one.what}: the commands in the sandbox`);
  const top = await place.directory(`rollback-commands-${one.count}`);
  const floor = await makeFloor(`${top}/plain`, files, one);
  const workspace = await createWorkspace(`${top}/work`, REPOSITORIES, files);
  const session = startDirectSession(workspace.root);
  const first = await session.capture();
  await writeVersion(workspace, 1, { from: 0, count: one.count });
  const second = await session.capture();
  const measured = await backAndForth(
    floor,
    (toFirst) => session.rollback(toFirst ? first : second),
    repetitionsOf(context, one),
  );
  return processorRow(`${one.what}: the commands in the sandbox`, measured, { budget: one.budgets.commands });
};

const wholeCall = async (context: Context, files: number, one: Case) => {
  const { place, say } = context;
  say(`${one.what}: the whole function call`);
  const name = `rollback-cloud-${one.count}`;
  await using cloud = await startBenchCloud(await place.directory(name));
  const session = await cloud.openSession('rollback');
  const floor = await makeFloor(await place.directory(`${name}-plain`), files, one);
  const workspace = await createWorkspace(session.root, REPOSITORIES, files);
  await session.start();
  const first = await session.checkpoint();
  await writeVersion(workspace, 1, { from: 0, count: one.count });
  const second = await session.checkpoint();
  const goTo = (toFirst: boolean) => session.rollback((toFirst ? first : second).checkpointId);
  const trips = await cloud.countTrips(() => goTo(true));
  await goTo(false);
  const measured = await backAndForth(floor, goTo, repetitionsOf(context, one));
  return processorRow(`${one.what}: the whole function call`, measured, {
    budget: one.budgets.call,
    roundTrips: trips.sequential,
  });
};

export const rollbackBenchmark: Benchmark = {
  name: 'rollback',
  title: 'rollback of 5 repositories x 2,500 files, against git checkout of the same trees',
  run: async (context) => {
    const files = filesOf(context.quick);
    const cases: Case[] = [
      { what: '1 file changed each', count: 1, budgets: { commands: 1.5, call: 5 } },
      { what: 'every file changed', count: files, budgets: { commands: 1, call: 2 } },
    ];
    const rows = [];
    for (const one of cases) {
      rows.push(await commandsAlone(context, files, one), await wholeCall(context, files, one));
    }
    return rows;
  },
};
