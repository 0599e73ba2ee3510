import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Bundle, bundlesIn, MAX_IMPORT_BYTES } from '../../cdk/bundle-sizes.ts';
import { median } from '../measure.ts';
import { runNode } from '../node.ts';
import { milliseconds, type Row } from '../report.ts';
import type { Benchmark } from './context.ts';

const PROJECT = join(import.meta.dirname, '../..');
const MAX_IMPORT_MS = 200;

/** The bundles of a full synth: exactly what would be deployed. */
export const synthesise = async (outdir: string): Promise<Bundle[]> => {
  await runNode([join(PROJECT, 'cdk/app.ts')], PROJECT, { CDK_OUTDIR: outdir });
  return bundlesIn(outdir);
};

export const nameOf = ({ entry }: Bundle): string => basename(entry, '.ts');
export const fileOf = ({ directory }: Bundle): string => join(directory, 'index.mjs');

/** Milliseconds a fresh process takes to import it. */
const importOnce = async (bundle: Bundle): Promise<number> => {
  const url = JSON.stringify(pathToFileURL(fileOf(bundle)).href);
  const script = `const started = performance.now(); await import(${url}); console.log(performance.now() - started);`;
  return Number(await runNode(['--input-type=module', '-e', script], PROJECT, { AWS_REGION: 'us-east-1' }));
};

const largest = <T>(items: readonly T[], by: (item: T) => number): T => {
  const [first] = items.toSorted((a, b) => by(b) - by(a));
  if (first === undefined) throw new Error('The synth made no bundles.');
  return first;
};

export const bundlesBenchmark: Benchmark = {
  name: 'bundles',
  title: 'function bundles, as the CDK makes them',
  run: async ({ quick, say, bundles: synthesised }) => {
    const bundles = await synthesised();
    const times = new Map<Bundle, number[]>(bundles.map((bundle) => [bundle, []]));
    const repetitions = quick ? 1 : 5;
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      say(`import of ${bundles.length} bundles, ${repetition} of ${repetitions}`);
      for (const [bundle, list] of times) list.push(await importOnce(bundle));
    }
    const timeOf = (bundle: Bundle): number => median(times.get(bundle) ?? []);
    const heaviest = largest(bundles, ({ importBytes }) => importBytes);
    const slowest = largest(bundles, timeOf);
    const rows: Row[] = [
      {
        what: `most that an import loads, of ${bundles.length}: ${nameOf(heaviest)}`,
        measured: `${(heaviest.importBytes / 1000).toFixed(0)} kB`,
        value: heaviest.importBytes,
        unit: 'bytes',
        budget: MAX_IMPORT_BYTES,
      },
      {
        what: `slowest import of ${bundles.length}: ${nameOf(slowest)}`,
        measured: milliseconds(timeOf(slowest)),
        value: timeOf(slowest),
        unit: 'ms',
        budget: MAX_IMPORT_MS,
      },
    ];
    return rows;
  },
};
