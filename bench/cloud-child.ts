/** The embedded cloud in a process of its own, so that its memory and its processor time are nobody else's. Told what to do by its parent. */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startCloud } from '../local/cloud.ts';
import { startCountingDynamoDb } from '../test/support/counting-dynamodb.ts';
import { recordUnits } from '../test/support/recorded-units.ts';
import type { Answer, Question, Usage } from './cloud-process.ts';
import { cpuMs } from './measure.ts';
import { startProcessorProfile } from './processor-profile.ts';

const LOOK_EVERY_MS = 20;
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

const [dataDir = '', counting = '', ...functions] = process.argv.slice(2);
const tell = (answer: Answer): void => void process.send?.(answer);

/** Processes of the cloud beside this one: DynamoDB's. Where there is no /proc they are left out. */
const others = (): { cpuMs: number; residentBytes: number } => {
  const sum = { cpuMs: 0, residentBytes: 0 };
  try {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
    for (const pid of children.filter((one) => one !== '')) {
      // After the name, which may hold anything but ends with the last bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      sum.cpuMs += ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
      sum.residentBytes += Number(fields[21]) * PAGE_BYTES;
    }
  } catch {
    // Not Linux, or it has just ended.
  }
  return sum;
};

const turns = monitorEventLoopDelay({ resolution: 5 });
turns.enable();

const usage = (): Usage => {
  const stalledMs = turns.max / 1e6;
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const beside = others();
  return {
    cpuMs: cpuMs(),
    heapBytes: heapUsed,
    externalBytes: external,
    residentBytes: rss,
    stalledMs,
    databaseCpuMs: beside.cpuMs,
    databaseResidentBytes: beside.residentBytes,
  };
};

const engine = counting === 'counting' ? await startCountingDynamoDb(dataDir) : undefined;
const cloud = await startCloud({
  dataDir,
  announce: false,
  functions,
  ...(engine === undefined ? {} : { dynamodb: engine.source }),
});
const recorded = recordUnits();

/** Sagas that ended, as the event bus told. */
let lastId: string | undefined;
const ended = (): { sagaId: string; name: string }[] => {
  const events = cloud.events();
  const from = events.findLastIndex(({ id }) => id === lastId) + 1;
  lastId = events.at(-1)?.id;
  return events.slice(from).flatMap(({ type = '', body }) => {
    if (!/^saga\.(?:completed|compensated|compensation_failed)$/.test(type)) return [];
    const detail: unknown = typeof body === 'object' && body !== null && 'sagaId' in body ? body.sagaId : '';
    return [{ sagaId: String(detail), name: type }];
  });
};
const looking = setInterval(() => {
  const sagas = ended();
  if (sagas.length > 0) tell({ kind: 'ended', sagas });
}, LOOK_EVERY_MS);

let profile: Promise<Awaited<ReturnType<typeof startProcessorProfile>>> | undefined;
const beginProfile = async (): Promise<void> => {
  profile = startProcessorProfile();
  await profile;
  tell({ kind: 'profile' });
};
const endProfile = async (): Promise<void> => {
  const end = await profile;
  if (end !== undefined) tell({ kind: 'profiled', codes: await end() });
};

process.on('message', (question: Question) => {
  if (question === 'usage') {
    tell({ kind: 'usage', usage: usage() });
    // The collection that was asked for is no work of the cloud; it is over when the thread turns again.
    setTimeout(() => turns.reset(), 20);
  }
  if (question === 'units') tell({ kind: 'units', units: { ...recorded.units } });
  if (question === 'profile') void beginProfile();
  if (question === 'profiled') void endProfile();
  if (question === 'close') {
    clearInterval(looking);
    void cloud.close().then(async () => {
      await engine?.close();
      process.disconnect();
    });
  }
});
// Whoever asked is gone.
process.on('disconnect', () => void cloud.close().then(() => process.exit()));
tell({ kind: 'ready', endpoints: cloud.endpoints, environment: cloud.environment });
