import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The budget in docs/benchmarks.md: what a cold start has to load. */
export const MAX_BUNDLE_BYTES = 1_500_000;

export interface BundleSize {
  /** Path of the handler in the project. */
  entry: string;
  directory: string;
  sizeBytes: number;
}

/** The first line of a bundle names its entry (cdk/constructs/walkback-function.ts). */
const entryOf = (source: string): string => /^\/\/ (\S+\.ts)$/m.exec(source)?.[1] ?? 'unknown';

interface AssetManifest {
  files?: Readonly<Record<string, { source?: { path?: string } }>>;
}

/** Directories of earlier syntheses stay where they are, and are not of this app. */
const assetsOf = (outdir: string): string[] =>
  readdirSync(outdir)
    .filter((name) => name.endsWith('.assets.json'))
    .flatMap((name) => {
      const manifest: AssetManifest = JSON.parse(readFileSync(join(outdir, name), 'utf8'));
      return Object.values(manifest.files ?? {}).flatMap(({ source }) => source?.path ?? []);
    });

/** The functions' bundles among the assets of a synthesised app, largest first. */
export const bundleSizes = (outdir: string): BundleSize[] =>
  assetsOf(outdir)
    .filter((name) => existsSync(join(outdir, name, 'index.mjs')))
    .map((name) => {
      const directory = join(outdir, name);
      const file = join(directory, 'index.mjs');
      return { entry: entryOf(readFileSync(file, 'utf8')), directory, sizeBytes: statSync(file).size };
    })
    .sort((one, other) => other.sizeBytes - one.sizeBytes);

/** On stderr: stdout belongs to the template. Throws when a bundle is over its budget. */
export const printBundleSizes = (outdir: string): void => {
  const sizes = bundleSizes(outdir);
  if (sizes.length === 0) return;
  const rows = sizes.map(
    ({ entry, sizeBytes }) => `${(sizeBytes / 1000).toFixed(0).padStart(6)} KB  ${basename(entry, '.ts')}`,
  );
  process.stderr.write(`Function bundles (budget ${MAX_BUNDLE_BYTES / 1000} KB)\n${rows.join('\n')}\n`);
  const over = sizes.filter(({ sizeBytes }) => sizeBytes > MAX_BUNDLE_BYTES).map(({ entry }) => entry);
  if (over.length > 0) throw new Error(`over the bundle budget: ${over.join(', ')}`);
};
