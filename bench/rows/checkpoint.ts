import { Walkback } from '../../client/index.ts';
import { startBenchCloud } from '../cloud.ts';
import { startDirectSession } from '../direct.ts';
import { compare } from '../measure.ts';
import { plainCheckpoint } from '../plain-git.ts';
import { processorRow, ratioRow } from '../report.ts';
import { changeOne, createWorkspace, writeVersion } from '../repositories.ts';
import { type Benchmark, type Context, filesOf } from './context.ts';

/** All of processor time. */
const COMMAND_BUDGETS = { nothing: 0.4, one: 0.35, every: 0.3 };
const CALL_BUDGETS = { nothing: 0.8, one: 0.9 };
const RECORDING_BUDGET = 1.15;
const TOOL_BUDGET = 1.5;
const REPOSITORIES = 5;

const commandAlone = async ({ place, quick, say }: Context, files: number) => {
  say('the command in the sandbox');
  const top = await place.directory('checkpoint-command');
  const workspace = await createWorkspace(`${top}/work`, REPOSITORIES, files);
  const floor = await plainCheckpoint(workspace, await place.directory('checkpoint-command/plain'));
  const session = startDirectSession(workspace.root);
  let roundTrips = (await session.capture()).roundTrips;
  const subject = async () => {
    ({ roundTrips } = await session.capture());
  };
  const repetitions = quick ? 3 : 21;
  let version = 1;
  const prepare = () => changeOne(workspace, version++);
  const changed = await compare({ repetitions, prepare, floor, subject });
  const changedTrips = roundTrips;
  const unchanged = await compare({ repetitions, floor, subject });
  const unchangedTrips = roundTrips;
  const every = await compare({
    repetitions: quick ? 3 : 7,
    prepare: () => writeVersion(workspace, version++, { from: 0, count: files }),
    floor,
    subject,
  });
  return [
    processorRow('1 file changed each: the command in the sandbox', changed, {
      budget: COMMAND_BUDGETS.one,
      roundTrips: changedTrips,
    }),
    processorRow('nothing changed: the command in the sandbox', unchanged, {
      budget: COMMAND_BUDGETS.nothing,
      roundTrips: unchangedTrips,
    }),
    processorRow('every file changed: the command in the sandbox', every, {
      budget: COMMAND_BUDGETS.every,
      roundTrips,
    }),
  ];
};

/** Two like workspaces, because a capture is also the start of the next one. */
const recording = async ({ place, quick, say }: Context, files: number) => {
  say('what recording the changes adds');
  const top = await place.directory('checkpoint-changes');
  const open = async (name: string, changes: boolean) => {
    const workspace = await createWorkspace(`${top}/${name}`, 1, files);
    const session = startDirectSession(workspace.root, undefined, { changes });
    await session.capture();
    return { workspace, session };
  };
  const without = await open('without', false);
  const recorded = await open('with', true);
  let version = 1;
  const compared = await compare({
    repetitions: quick ? 5 : 41,
    prepare: async () => {
      await changeOne(without.workspace, version);
      await changeOne(recorded.workspace, version++);
    },
    floor: () => without.session.capture(),
    subject: () => recorded.session.capture(),
  });
  return [
    processorRow('1 file changed, 1 repository: with list and patch, against without', compared, {
      budget: RECORDING_BUDGET,
    }),
  ];
};

const wholeCall = async ({ place, quick, say }: Context, files: number) => {
  say('the whole function call');
  await using cloud = await startBenchCloud(await place.directory('checkpoint-cloud'));
  const session = await cloud.openSession('checkpoint');
  const workspace = await createWorkspace(session.root, REPOSITORIES, files);
  const floor = await plainCheckpoint(workspace, await place.directory('checkpoint-call/plain'));
  await session.start();
  let version = 1;
  const prepare = () => changeOne(workspace, version++);
  await prepare();
  const changedTrips = await cloud.countTrips(() => session.checkpoint());
  const unchangedTrips = await cloud.countTrips(() => session.checkpoint());
  const repetitions = quick ? 3 : 21;
  const subject = () => session.checkpoint();
  const changed = await compare({ repetitions, prepare, floor, subject });
  const unchanged = await compare({ repetitions, floor, subject });
  return [
    processorRow('1 file changed each: the whole function call', changed, {
      budget: CALL_BUDGETS.one,
      roundTrips: changedTrips.sequential,
    }),
    processorRow('nothing changed: the whole function call', unchanged, {
      budget: CALL_BUDGETS.nothing,
      roundTrips: unchangedTrips.sequential,
    }),
  ];
};

/** A tool that does nothing, called through the client: all the time is that of the checkpoint before it. */
const beforeTool = async ({ place, quick, say }: Context, files: number) => {
  say('a tool call with a checkpoint before it');
  await using cloud = await startBenchCloud(await place.directory('checkpoint-tool'));
  const session = await cloud.openSession('tool');
  await createWorkspace(session.root, REPOSITORIES, files);
  await session.start();
  const walkback = new Walkback({ client: cloud.lambda });
  const run = (await walkback.sessions.get(session.sessionId)).run({ message: { text: 'measure' } });
  let calls = 0;
  const compared = await compare({
    repetitions: quick ? 3 : 21,
    floor: () => session.checkpoint(),
    subject: () => run.guard({ id: `call-${calls++}`, name: 'write_file', input: {} }, () => undefined),
  });
  await walkback.close();
  return [
    ratioRow('nothing changed: a tool call through the client, against the function call', compared, {
      budget: TOOL_BUDGET,
    }),
  ];
};

export const checkpointBenchmark: Benchmark = {
  name: 'checkpoint',
  title: 'checkpoint of 5 repositories x 2,500 files, against plain git',
  run: async (context) => {
    const files = filesOf(context.quick);
    return [
      ...(await commandAlone(context, files)),
      ...(await recording(context, files)),
      ...(await wholeCall(context, files)),
      ...(await beforeTool(context, files)),
    ];
  },
};
