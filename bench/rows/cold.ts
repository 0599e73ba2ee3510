/** How long each function takes to be there on half a processor, which is what Lambda gives one of about 900 MB. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../../cdk/bundle-sizes.ts';
import { median } from '../measure.ts';
import { milliseconds, type Row } from '../report.ts';
import { fileOf, nameOf } from './bundles.ts';
import { bundlesOf } from './bundles-of.ts';
import type { Benchmark } from './context.ts';

/** Everything is measured on this one, so that whoever spins there takes half of it. */
const ON_ONE_PROCESSOR = ['taskset', '-c', '0'] as const;

/** Of the functions in a quick run. */
const EVERY_QUICK = 6;

interface Start {
  /** From the start of the process to its end, which is that of the import. */
  wallMs: number;
  /** Of all its threads: what the start costs, whoever else uses the processor. */
  cpuMs: number;
}

const startOnce = async (file: string, cwd: string): Promise<Start> => {
  const url = JSON.stringify(pathToFileURL(file).href);
  const script = `await import(${url}); const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000), () => process.exit());`;
  const { PATH, HOME } = process.env;
  const [program, ...args] = ON_ONE_PROCESSOR;
  const began = performance.now();
  const child = spawn(program, [...args, process.execPath, '--input-type=module', '-e', script], {
    cwd,
    env: { PATH, HOME, AWS_REGION: 'us-east-1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [said, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`${file} could not be imported: ${code ?? 'killed'}`);
  return { wallMs: performance.now() - began, cpuMs: Number(said) };
};

/** Spins on the same processor until it is disposed of. */
const spin = (): Disposable => {
  const [program, ...args] = ON_ONE_PROCESSOR;
  const child = spawn(program, [...args, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') };
};

type Way = () => Promise<Start>;

/** Medians of each way of each function. The ways take turns, and another one begins in each repetition. */
const startAll = async (functions: readonly (readonly Way[])[], repetitions: number): Promise<Start[][]> => {
  const seen = functions.map((ways) => ways.map(() => [] as Start[]));
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const [n, ways] of functions.entries()) {
      for (const turn of ways.keys()) {
        const way = (turn + repetition) % ways.length;
        const start = await ways[way]?.();
        if (start !== undefined) seen[n]?.[way]?.push(start);
      }
    }
  }
  return seen.map((ways) =>
    ways.map((starts) => ({
      wallMs: median(starts.map(({ wallMs }) => wallMs)),
      cpuMs: median(starts.map(({ cpuMs }) => cpuMs)),
    })),
  );
};

const rowOf = (what: string, floor: Start | undefined, measured: Start | undefined): Row => {
  if (floor === undefined || measured === undefined) throw new Error(`${what} was not measured.`);
  return {
    what,
    floor: milliseconds(floor.wallMs),
    measured: milliseconds(measured.wallMs),
    value: measured.wallMs / floor.wallMs,
    unit: 'x',
    cpuRatio: measured.cpuMs / floor.cpuMs,
    cpuMs: { floor: floor.cpuMs, measured: measured.cpuMs },
  };
};

export const coldBenchmark: Benchmark = {
  name: 'cold',
  title:
    'cold start: a process that has imported the function, on half a processor (floor: on a whole one, or that of --before)',
  run: async ({ place, quick, say, before, bundles: synthesised }) => {
    const all = (await synthesised()).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    const bundles = quick ? all.filter((_, n) => n % EVERY_QUICK === 0) : all;
    const repetitions = quick ? 1 : 5;
    const now = (bundle: Bundle) => () => startOnce(fileOf(bundle), bundle.directory);
    if (before === undefined) {
      const alone = bundles.map((bundle) => [now(bundle)]);
      say(`${bundles.length} functions on a whole processor`);
      const whole = await startAll(alone, repetitions);
      say('on half of one');
      using _ = spin();
      const half = await startAll(alone, repetitions);
      return bundles.map((bundle, n) => rowOf(nameOf(bundle), whole[n]?.[0], half[n]?.[0]));
    }
    say(`a full synth of ${before}`);
    const outdir = await place.directory('cold-before');
    const earlier = await bundlesOf(before, outdir);
    const both = bundles.flatMap((bundle) => {
      const file = earlier.get(nameOf(bundle));
      return file === undefined
        ? []
        : [{ name: nameOf(bundle), ways: [() => startOnce(file, outdir), now(bundle)] }];
    });
    say(`${both.length} functions on half a processor, before and now in turn`);
    using _ = spin();
    const seen = await startAll(
      both.map(({ ways }) => ways),
      repetitions,
    );
    return both.map(({ name }, n) => rowOf(name, seen[n]?.[0], seen[n]?.[1]));
  },
};
