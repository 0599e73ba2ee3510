/** `npm run bench -- --profile`: where the processor time of a checkpoint, a rollback, a merge and a step of a saga goes, process by process. */
import { type DirectSession, startDirectSession } from './direct.ts';
import { cpuMs, rest } from './measure.ts';
import type { Place } from './place.ts';
import { createProcessSandbox, mustRun } from './processes.ts';
import { milliseconds } from './report.ts';
import { createWorkspace, writeVersion } from './repositories.ts';
import { profileStep } from './sagas/profile.ts';
import { createShims, type ProcessCost } from './shims.ts';

const REPOSITORIES = 5;
/** Processes that take less share a line. */
const WORTH_A_LINE_MS = 1;

interface Profile {
  what: string;
  /** Of one call on average, without the shims. */
  cpuMs: number;
  /** Of one call on average; `calls` need not be whole. */
  processes: ProcessCost[];
}

/** Makes the calls of one kind; `repeat` runs its argument so often, and measures. */
type Work = (
  session: DirectSession,
  write: (version: number) => Promise<void>,
  repeat: (one: (repetition: number) => Promise<unknown>) => Promise<void>,
  /** The same in a copy of the repositories. */
  other: () => Promise<{ session: DirectSession; write: (version: number) => Promise<void> }>,
) => Promise<void>;

const checkpoints: Work = async (session, write, repeat) => {
  await session.capture();
  await repeat(async (repetition) => {
    await write(repetition + 1);
    await session.capture();
  });
};

const rollbacks: Work = async (session, write, repeat) => {
  const first = await session.capture();
  await write(1);
  const second = await session.capture();
  await repeat(async (repetition) => {
    await rest();
    await session.rollback(repetition % 2 === 0 ? first : second);
  });
};

/** The other side changes the last file, so that both changes go together. */
const compositions: Work = async (session, write, repeat, other) => {
  const base = await session.capture();
  const fork = await other();
  await fork.session.capture();
  await fork.write(2);
  const theirs = await fork.session.capture();
  await write(1);
  await session.capture();
  await repeat(() => session.compose(base, theirs));
};

const CASES: readonly { what: string; count: number; work: Work }[] = [
  { what: 'checkpoint: 1 file changed each', count: 1, work: checkpoints },
  { what: 'rollback: 1 file changed each', count: 1, work: rollbacks },
  { what: 'composing a merge: 1 file changed on each side', count: 1, work: compositions },
  { what: 'rollback: every file changed', count: Number.POSITIVE_INFINITY, work: rollbacks },
];

const shorten = (costs: readonly ProcessCost[]): ProcessCost[] => {
  const rest = { name: 'all others', calls: 0, cpuMs: 0 };
  for (const { calls, cpuMs: cost } of costs.filter((one) => one.cpuMs < WORTH_A_LINE_MS)) {
    rest.calls += calls;
    rest.cpuMs += cost;
  }
  return [...costs.filter((one) => one.cpuMs >= WORTH_A_LINE_MS), ...(rest.calls === 0 ? [] : [rest])];
};

/** No process is started for a step, so its lines are packages and folders of the cloud's own process, and DynamoDB. */
const sagaProfile = async (place: Place, sagas: number): Promise<Profile> => {
  const step = await profileStep(place, sagas);
  const codes = step.codes.map(({ code, cpuMs: cost }) => ({ name: code, calls: 0, cpuMs: cost }));
  return {
    what: 'saga: a step driven by the machine',
    cpuMs: step.cpuMs + step.databaseCpuMs,
    processes: [{ name: 'DynamoDB', calls: 1, cpuMs: step.databaseCpuMs }, ...shorten(codes)],
  };
};

/**
 * Every call is made twice: without the shims for the whole, which they would make dearer, and with them for each
 * process. What is left is the program, the shell that starts it, and this process, which reads the answer.
 */
export const measureProfiles = async (
  place: Place,
  { files, repetitions }: { files: number; repetitions: number },
  say: (text: string) => void,
): Promise<Profile[]> => {
  const shims = await createShims(await place.directory('shims'));
  const profiles: Profile[] = [];
  for (const { what, count, work } of CASES) {
    say(what);
    const workspace = await createWorkspace(
      await place.directory(`profile-${profiles.length}`),
      REPOSITORIES,
      files,
    );
    let path: string | undefined;
    const session = startDirectSession(
      workspace.root,
      createProcessSandbox(() => path),
    );
    const write = (version: number) =>
      writeVersion(workspace, version, { from: 0, count: Math.min(count, files) });
    const other = async () => {
      const copy = { ...workspace, root: await place.directory(`profile-other-${profiles.length}`) };
      await mustRun(
        `cp -a ${workspace.root}/. ${copy.root}/ && rm -rf ${copy.root}/*/.agent-shadow ${copy.root}/.agent-shadow`,
        '/',
      );
      return {
        session: startDirectSession(copy.root),
        write: (version: number) => writeVersion(copy, version, { from: files - 1, count: 1 }),
      };
    };
    let whole = 0;
    let processes: ProcessCost[] = [];
    await work(
      session,
      write,
      async (one) => {
        await one(0);
        await one(1);
        for (let repetition = 0; repetition < repetitions; repetition += 1) {
          const before = cpuMs();
          await one(repetition);
          whole += cpuMs() - before;
        }
        path = shims.path;
        for (let repetition = 0; repetition < repetitions; repetition += 1) await one(repetition);
        processes = shims.take();
      },
      other,
    );
    const each = processes.map(({ name, calls, cpuMs: cost }) => ({
      name,
      calls: calls / repetitions,
      cpuMs: cost / repetitions,
    }));
    const own = whole / repetitions - each.reduce((sum, one) => sum + one.cpuMs, 0);
    profiles.push({
      what,
      cpuMs: whole / repetitions,
      processes: [{ name: 'the program, and starting it', calls: 0, cpuMs: own }, ...shorten(each)],
    });
  }
  say('saga: a step');
  return [...profiles, await sagaProfile(place, repetitions)];
};

/** One line for each process: how often it is started, its processor time, and its share of the whole. */
export const renderProfiles = (profiles: readonly Profile[]): string =>
  profiles
    .map(({ what, cpuMs: whole, processes }) => {
      const lines = processes.map(({ name, calls, cpuMs: cost }) => {
        const share = `${((cost / whole) * 100).toFixed(0)} %`.padStart(5);
        return `  ${name.padEnd(36)}${(calls === 0 ? '' : calls.toFixed(1)).padStart(6)}${milliseconds(cost).padStart(9)} ${share}`;
      });
      return `${what}: ${milliseconds(whole)} of processor time\n${lines.join('\n')}\n`;
    })
    .join('\n');
