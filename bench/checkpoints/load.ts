/** Thousands of checkpoints of many sessions on the embedded cloud: how many in a second, how long each takes, what the cloud keeps. */

import { join } from 'node:path';
import { Sandbox } from 'e2b';
import * as z from 'zod';
import { HOUR_MS } from '../../contract/times.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { type CloudProcess, startCloudProcess, type Usage } from '../cloud-process.ts';
import { megabytes, quantile, rate, seconds } from '../numbers.ts';
import type { Place } from '../place.ts';
import { changeOne, createWorkspace, type Workspace } from '../repositories.ts';

export interface Load {
  checkpoints: number;
  sessions: number;
  /** Callers, each of whom takes the next checkpoint when the one before has been taken. */
  atOnce: number;
  /** No further checkpoint is begun after this; those that run are waited for. */
  minutes?: number | undefined;
}

const PROJECTS_ROOT = '/home/user/work';
const FILES = 50;
const SANDBOX_TIMEOUT_MS = HOUR_MS;
const EVERY = 1_000;
const FIRST = 100;
const PAGE = 200;

const taken = z.object({ seq: z.number(), complete: z.literal(true) });
const page = z.object({
  checkpoints: z.array(z.object({ seq: z.number() })),
  cursor: z.string().optional(),
});

interface OpenSession {
  sessionId: string;
  workspace: Workspace;
  /** Checkpoints that were taken after the baseline. */
  taken: number;
}

const progress = (text: string): void => void process.stderr.write(`${text}\n`);

const memory = ({ heapBytes, externalBytes, residentBytes, databaseResidentBytes }: Usage): string =>
  `heap ${megabytes(heapBytes)}, buffers ${megabytes(externalBytes)}, resident ${megabytes(residentBytes)}, database ${megabytes(databaseResidentBytes)}`;

const openSession = async (cloud: CloudProcess, dataDir: string, n: number): Promise<OpenSession> => {
  const { environment, endpoints } = cloud;
  const { sandboxId, commands } = await Sandbox.create({
    apiKey: environment['E2B_API_KEY'] ?? '',
    apiUrl: endpoints.e2b,
    sandboxUrl: endpoints.e2b,
    timeoutMs: SANDBOX_TIMEOUT_MS,
  });
  await commands.run(`mkdir -p ${PROJECTS_ROOT}`);
  const workspace = await createWorkspace(join(dataDir, 'e2b', sandboxId, 'rootfs', PROJECTS_ROOT), 1, FILES);
  const sessionId = `load-${n}`;
  await cloud.invoke('start-session', { sessionId, sandboxId, projectsRoot: PROJECTS_ROOT });
  return { sessionId, workspace, taken: 0 };
};

/** Every page of a timeline; how long each took, and how many checkpoints there are. */
const readTimeline = async (cloud: CloudProcess, sessionId: string) => {
  const times: number[] = [];
  let count = 0;
  let cursor: string | undefined;
  do {
    const began = performance.now();
    const answer = page.parse(
      await cloud.invoke('timeline', { sessionId, limit: PAGE, ...(cursor !== undefined && { cursor }) }),
    );
    times.push(performance.now() - began);
    count += answer.checkpoints.length;
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return { times, count };
};

/** Answers rows for the table. Anything that is not as it should be is counted, shown and makes the run fail. */
const runLoad = async (
  cloud: CloudProcess,
  sessions: OpenSession[],
  { checkpoints, atOnce, minutes = Number.POSITIVE_INFINITY }: Load,
): Promise<[string, string][]> => {
  const times: number[] = [];
  const failures: string[] = [];
  const usages: { after: number; usage: Usage }[] = [];
  const began = performance.now();
  const lastStart = began + minutes * 60_000;
  let next = 0;
  /** One after the other: each is a question to the cloud. */
  let noting = Promise.resolve();
  const note = (after: number): Promise<void> =>
    (noting = noting.then(async () => {
      const usage = await cloud.usage();
      usages.push({ after, usage });
      if (after % EVERY === 0)
        progress(
          `  ${after} of ${checkpoints}: ${rate(after, performance.now() - began)} a second, ${memory(usage)}`,
        );
    }));
  await note(0);

  /** A session's checkpoints go one after the other, as an agent's do. */
  const idle = [...sessions];
  const one = async (session: OpenSession, n: number): Promise<void> => {
    await changeOne(session.workspace, n);
    const started = performance.now();
    try {
      taken.parse(
        await cloud.invoke('checkpoint', {
          sessionId: session.sessionId,
          messageId: `m${session.taken >> 3}`,
          toolExecutionId: `t${n}`,
          reason: 'before-tool',
        }),
      );
      session.taken += 1;
      times.push(performance.now() - started);
    } catch (error) {
      failures.push(`${session.sessionId} t${n}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (times.length > 0 && times.length % FIRST === 0) await note(times.length);
  };
  const caller = async (): Promise<void> => {
    while (next < checkpoints && performance.now() < lastStart) {
      const session = idle.shift();
      if (session === undefined) return;
      await one(session, (next += 1));
      idle.push(session);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, sessions.length) }, caller));
  const wallMs = performance.now() - began;
  const done = times.length;
  if (usages.at(-1)?.after !== done) await note(done);

  const [session] = sessions;
  if (session === undefined) throw new Error('There must be at least one session.');
  const timeline = await readTimeline(cloud, session.sessionId);
  // The baseline is one more.
  if (timeline.count !== session.taken + 1)
    failures.push(`the timeline has ${timeline.count} checkpoints and should have ${session.taken + 1}`);

  const usageAt = (after: number) => usages.find((each) => each.after === after)?.usage;
  const cost = (from: number, to: number): number => {
    const [first, last] = [usageAt(from), usageAt(to)];
    if (first === undefined || last === undefined) return Number.NaN;
    return (last.cpuMs + last.databaseCpuMs - first.cpuMs - first.databaseCpuMs) / (to - from);
  };
  const kept = usages.filter(({ after }, n) => after % EVERY === 0 || n === usages.length - 1);
  const whole = Math.floor(done / FIRST) * FIRST;
  const [first, last] = [cost(0, FIRST), cost(whole - FIRST, whole)];
  if (failures.length > 0) {
    process.exitCode = 1;
    progress(`  ${failures.length} not as they should be: ${failures.slice(0, 5).join('; ')}`);
  }
  const waits = (list: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => seconds(quantile(list, share))).join(', ');
  return [
    [
      'checkpoints, sessions, at once',
      `${done}${done < checkpoints ? ` of ${checkpoints}` : ''}, ${sessions.length}, ${atOnce}`,
    ],
    ['taken a second', rate(done, wallMs)],
    ['a checkpoint: p50, p99, longest', waits(times)],
    [
      'first 100, last 100: p50',
      `${seconds(quantile(times.slice(0, FIRST), 0.5))}, ${seconds(quantile(times.slice(-FIRST), 0.5))}`,
    ],
    ['failed', String(failures.length)],
    ['told to call again', String(cloud.repeats())],
    [
      'processor time of a checkpoint: first 100, last 100',
      `${first.toFixed(0)} ms, ${last.toFixed(0)} ms (${(last / first).toFixed(2)}x)`,
    ],
    [
      `timeline of a session with ${timeline.count}, pages of ${PAGE}: first, last`,
      `${seconds(timeline.times[0] ?? Number.NaN)}, ${seconds(timeline.times.at(-1) ?? Number.NaN)}`,
    ],
    ...kept.map(({ after, usage }, n): [string, string] => [
      `after ${after}`,
      `${n === 0 ? '' : `${cost(kept[n - 1]?.after ?? 0, after).toFixed(0)} ms each since, `}${memory(usage)}`,
    ]),
  ];
};

export const measureLoad = async (place: Place, load: Load): Promise<[string, string][]> => {
  const dataDir = await place.directory('load');
  await using cloud = await startCloudProcess(dataDir);
  progress(`opens ${load.sessions} sessions`);
  const sessions = await mapAtOnce(
    Array.from({ length: load.sessions }, (_, n) => n),
    4,
    (n) => openSession(cloud, dataDir, n),
  );
  progress(`load: ${load.checkpoints} checkpoints of ${load.sessions} sessions, ${load.atOnce} at once`);
  return await runLoad(cloud, sessions, load);
};
