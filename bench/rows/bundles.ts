import { readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from '../measure.ts';
import { runNode } from '../node.ts';
import { milliseconds, type Row } from '../report.ts';
import type { Benchmark } from './context.ts';

const PROJECT = join(import.meta.dirname, '../..');
const MAX_BYTES = 1_500_000;
const MAX_IMPORT_MS = 200;

export interface Bundle {
  name: string;
  file: string;
  sizeBytes: number;
}

/** The bundles of a full synth: exactly what would be deployed. */
export const synthesise = async (outdir: string): Promise<Bundle[]> => {
  await runNode([join(PROJECT, 'cdk/app.ts')], PROJECT, { CDK_OUTDIR: outdir });
  // What the Lambda runtime brings: the AWS SDK.
  await symlink(join(PROJECT, 'node_modules'), join(outdir, 'node_modules'));
  const assets = (await readdir(outdir)).filter((name) => name.startsWith('asset.'));
  return Promise.all(
    assets.map(async (asset) => {
      const file = join(outdir, asset, 'index.mjs');
      // Bundled last, the entry is the last file that names itself.
      const name = [...(await readFile(file, 'utf8')).matchAll(/^\/\/ functions\/([\w-]+)\.ts$/gm)].at(
        -1,
      )?.[1];
      return { name: name ?? asset, file, sizeBytes: (await stat(file)).size };
    }),
  );
};

/** Milliseconds a fresh process takes to import it. */
const importOnce = async ({ file }: Bundle): Promise<number> => {
  const url = JSON.stringify(pathToFileURL(file).href);
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
  run: async ({ place, quick, say }) => {
    say('a full synth');
    const bundles = await synthesise(await place.directory('bundles'));
    const times = new Map<Bundle, number[]>(bundles.map((bundle) => [bundle, []]));
    const repetitions = quick ? 1 : 5;
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      say(`import of ${bundles.length} bundles, ${repetition} of ${repetitions}`);
      for (const [bundle, list] of times) list.push(await importOnce(bundle));
    }
    const timeOf = (bundle: Bundle): number => median(times.get(bundle) ?? []);
    const heaviest = largest(bundles, ({ sizeBytes }) => sizeBytes);
    const slowest = largest(bundles, timeOf);
    const rows: Row[] = [
      {
        what: `largest of ${bundles.length}: ${heaviest.name}`,
        measured: `${(heaviest.sizeBytes / 1000).toFixed(0)} kB`,
        value: heaviest.sizeBytes,
        unit: 'bytes',
        budget: MAX_BYTES,
      },
      {
        what: `slowest import of ${bundles.length}: ${slowest.name}`,
        measured: milliseconds(timeOf(slowest)),
        value: timeOf(slowest),
        unit: 'ms',
        budget: MAX_IMPORT_MS,
      },
    ];
    return rows;
  },
};
