/** Times work, and compares two ways of doing it by interleaved repetitions. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A look takes what changed in the 60 ms before it for newer than itself (docs/design.md): longer than that. */
const REST_MS = 100;

/** Lets time pass, so that what was just written is not that young. Nobody goes back so soon after going there. */
export const rest = (): Promise<void> => delay(REST_MS);

/** Linux counts in ticks of 10 ms. */
const TICK_MS = 10;

interface Sample {
  wallMs: number;
  cpuMs: number;
}

export interface Comparison {
  /** Medians. */
  floorMs: number;
  subjectMs: number;
  /** Of the medians. */
  ratio: number;
  /** Of the sums: a tick is too coarse for one repetition. Undefined where the system does not tell. */
  cpuRatio: number | undefined;
}

const childrenCpuMs = (): number => {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
  } catch {
    return Number.NaN;
  }
};

/** User and system time of this process and of every child that ended. */
export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + childrenCpuMs();
};

const timed = async (work: () => Promise<unknown>): Promise<Sample> => {
  const cpuBefore = cpuMs();
  const startedMs = performance.now();
  await work();
  return { wallMs: performance.now() - startedMs, cpuMs: cpuMs() - cpuBefore };
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Runs `floor` and `subject` in turn, the other one first in every second repetition, so that whatever else the machine
 * does meets both. `prepare` is not timed. The first repetition warms caches and is not counted.
 */
export const compare = async (options: {
  repetitions: number;
  prepare?: (repetition: number) => Promise<unknown>;
  floor: (repetition: number) => Promise<unknown>;
  subject: (repetition: number) => Promise<unknown>;
}): Promise<Comparison> => {
  const floor: Sample[] = [];
  const subject: Sample[] = [];
  for (let repetition = 0; repetition <= options.repetitions; repetition++) {
    await options.prepare?.(repetition);
    const runFloor = async () => void floor.push(await timed(() => options.floor(repetition)));
    const runSubject = async () => void subject.push(await timed(() => options.subject(repetition)));
    const [first, second] = repetition % 2 === 0 ? [runFloor, runSubject] : [runSubject, runFloor];
    await first();
    await second();
  }
  const wall = (samples: Sample[]) => median(samples.slice(1).map(({ wallMs }) => wallMs));
  const cpu = (samples: Sample[]) => sum(samples.slice(1).map(({ cpuMs: ms }) => ms));
  const cpuRatio = cpu(subject) / cpu(floor);
  const floorMs = wall(floor);
  const subjectMs = wall(subject);
  return {
    floorMs,
    subjectMs,
    ratio: subjectMs / floorMs,
    cpuRatio: Number.isFinite(cpuRatio) ? cpuRatio : undefined,
  };
};
