/** How long each function takes to be there on half a processor, which is what Lambda gives one of about 900 MB. */
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../../cdk/bundle-sizes.ts';
import { median } from '../measure.ts';
import { milliseconds } from '../report.ts';
import { fileOf, nameOf, synthesise } from './bundles.ts';
import type { Benchmark } from './context.ts';

/** Everything is measured on this one, so that whoever spins there takes half of it. */
const ON_ONE_PROCESSOR = ['taskset', '-c', '0'] as const;

/** From the start of the process to the end of the import, in milliseconds. */
const startOnce = async (bundle: Bundle, cwd: string): Promise<number> => {
  const url = JSON.stringify(pathToFileURL(fileOf(bundle)).href);
  const script = `await import(${url}); process.exit(0);`;
  const { PATH, HOME } = process.env;
  const [program, ...args] = ON_ONE_PROCESSOR;
  const began = performance.now();
  const child = spawn(program, [...args, process.execPath, '--input-type=module', '-e', script], {
    cwd,
    env: { PATH, HOME, AWS_REGION: 'us-east-1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${bundle.entry} could not be imported: ${code ?? 'killed'}`);
  return performance.now() - began;
};

/** Spins on the same processor until it is disposed of. */
const spin = (): Disposable => {
  const [program, ...args] = ON_ONE_PROCESSOR;
  const child = spawn(program, [...args, process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' });
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') };
};

export const coldBenchmark: Benchmark = {
  name: 'cold',
  title: 'cold start: a process that has imported the function, on half a processor (floor: on a whole one)',
  run: async ({ place, quick, say }) => {
    say('a full synth');
    const directory = await place.directory('cold');
    const bundles = (await synthesise(directory)).toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    const repetitions = quick ? 1 : 5;
    const measure = async (): Promise<Map<Bundle, number[]>> => {
      const times = new Map<Bundle, number[]>(bundles.map((bundle) => [bundle, []]));
      for (let repetition = 0; repetition < repetitions; repetition += 1)
        for (const [bundle, list] of times) list.push(await startOnce(bundle, directory));
      return times;
    };
    say(`${bundles.length} functions on a whole processor`);
    const whole = await measure();
    say('on half of one');
    using _ = spin();
    const half = await measure();
    return bundles.map((bundle) => {
      const [floor, measured] = [whole, half].map((times) => median(times.get(bundle) ?? []));
      return {
        what: nameOf(bundle),
        floor: milliseconds(floor ?? Number.NaN),
        measured: milliseconds(measured ?? Number.NaN),
        value: (measured ?? Number.NaN) / (floor ?? Number.NaN),
        unit: 'x' as const,
      };
    });
  },
};
