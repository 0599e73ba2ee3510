/**
 * Pages of the console beside large answers: the real command beside a cloud in the background. The budget is for a machine
 * that does nothing else; the processor time (of console, cloud and database) hardly changes when others use it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { type ConsoleStage, createConsoleStage, LAUNCHER } from '../console/stage.ts';
import { median } from '../measure.ts';
import { milliseconds, type Row } from '../report.ts';
import type { Benchmark } from './context.ts';

const FIRST_BYTE_MS = 300;
/** What the page of the large patch has to say. */
const CUT = 'Cut when it was kept';
/** Linux counts in ticks of 10 ms. */
const TICK_MS = 10;

const FULL = {
  checkpoints: 500,
  repositories: 40,
  entries: 10_000,
  patchBytes: 5_000_000,
  otherSessions: 19,
};
const QUICK = {
  checkpoints: 40,
  repositories: 5,
  entries: 1_000,
  patchBytes: 1_500_000,
  otherSessions: 3,
};

const statOf = (pid: number): string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
};

/** The processes of a cloud: itself, and its database below it. */
const familyOf = (pid: number): number[] => [
  pid,
  ...readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && Number(statOf(Number(name))[1]) === pid ? familyOf(Number(name)) : [],
  ),
];

/** User and system time of these, with their children that ended. */
const cpuMsOf = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const fields = statOf(pid);
    return sum + [11, 12, 13, 14].reduce((all, at) => all + Number(fields[at] ?? 0), 0) * TICK_MS;
  }, 0);

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;

const startConsole = async ({ work, env }: ConsoleStage) => {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [LAUNCHER, 'console', '--json'], {
    cwd: work,
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line]: unknown[] = await once(createInterface(child.stdout), 'line');
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(String(line)));
  const entered = await fetch(url, { redirect: 'manual' });
  const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
  const { origin } = new URL(url);
  return {
    pid: child.pid ?? 0,
    get: async (path: string, mark?: string) => {
      const from = performance.now();
      const answer = await fetch(origin + path, { headers: { cookie } });
      const firstByteMs = performance.now() - from;
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
      if (mark !== undefined && !text.includes(mark)) throw new Error(`${path} does not have ${mark}`);
      return { firstByteMs, length: text.length };
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM');
      const [code]: unknown[] = await once(child, 'exit');
      if (code !== 0) throw new Error(`The console ended with ${String(code)}.`);
    },
  };
};

export const consoleBenchmark: Benchmark = {
  name: 'console',
  title:
    'pages of the console, beside a cloud in the background (first byte, on a machine that does nothing else)',
  run: async ({ place, quick, say }) => {
    const sizes = quick ? QUICK : FULL;
    await using stage = await createConsoleStage(place, sizes, say);
    await using pages = await startConsole(stage);
    const pids = [pages.pid, ...familyOf(stage.daemonPid)];
    const session = `/sessions/${stage.sessionId}`;
    const words = sizes.checkpoints * (sizes.otherSessions + 1);
    const asked = [
      [`session, newest of ${sizes.checkpoints} checkpoints`, session],
      ['session, the message with the large patch, cut', `${session}?message=${stage.messageId}`, CUT],
      [`ledger, a day of ${sizes.entries} entries`, `/ledger?from=${stage.day}&to=${stage.day}`],
      ['sessions', '/'],
      [
        `search in ${words} messages of ${sizes.otherSessions + 1} sessions`,
        '/search?q=message+7',
        `Looked through ${words} checkpoints`,
      ],
    ] as const;
    const rows: Row[] = [];
    const rounds = quick ? 5 : 20;
    for (const [what, path, mark] of asked) {
      say(what);
      // The first ones load code.
      for (let round = 0; round < 3; round += 1) await pages.get(path, mark);
      const before = cpuMsOf(pids);
      const times: number[] = [];
      let bytes = 0;
      for (let round = 0; round < rounds; round += 1) {
        const { firstByteMs, length } = await pages.get(path);
        times.push(firstByteMs);
        bytes = length;
      }
      const cpuMs = (cpuMsOf(pids) - before) / rounds;
      // A heap grows to what suits it before it is flat.
      const memory = residentMiB(pages.pid);
      for (let round = 0; round < 2 * rounds; round += 1) await pages.get(path);
      const after = residentMiB(pages.pid);
      const facts = `${Math.round(bytes / 1024)} KiB, ${cpuMs.toFixed(0)} ms of processor, ${memory.toFixed(0)} MiB after ${rounds} and ${after.toFixed(0)} after ${3 * rounds}`;
      rows.push({
        what: `${what} (${facts})`,
        measured: milliseconds(median(times)),
        value: median(times),
        unit: 'ms',
        budget: FIRST_BYTE_MS,
      });
    }
    return rows;
  },
};
