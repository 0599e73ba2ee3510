import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type BundleContent, CONTENT_FILE } from './bundle-content.ts';

/** The budget in docs/benchmarks.md: what a cold start has to load. */
export const MAX_IMPORT_BYTES = 1_500_000;

export interface Bundle extends BundleContent {
  directory: string;
}

interface AssetManifest {
  files?: Readonly<Record<string, { source?: { path?: string } }>>;
}

/** Directories of earlier syntheses stay in place, and do not belong to this app. */
const assetsOf = (outdir: string): string[] =>
  readdirSync(outdir)
    .filter((name) => name.endsWith('.assets.json'))
    .flatMap((name) => {
      const manifest: AssetManifest = JSON.parse(readFileSync(join(outdir, name), 'utf8'));
      return Object.values(manifest.files ?? {}).flatMap(({ source }) => source?.path ?? []);
    });

const contentIn = (directory: string): BundleContent =>
  JSON.parse(readFileSync(join(directory, CONTENT_FILE), 'utf8'));

/** The functions' bundles among the assets of a synthesised app. Those that load most at import come first. */
export const bundlesIn = (outdir: string): Bundle[] =>
  assetsOf(outdir)
    .map((name) => join(outdir, name))
    .filter((directory) => existsSync(join(directory, CONTENT_FILE)))
    .map((directory) => ({ ...contentIn(directory), directory }))
    .sort((one, other) => other.importBytes - one.importBytes);

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0).padStart(6)} KB`;

/** Prints to stderr, because stdout is for the template. Throws when an import loads more than its budget. */
export const printBundleSizes = (outdir: string): void => {
  const bundles = bundlesIn(outdir);
  if (bundles.length === 0) return;
  const rows = bundles.map(
    ({ entry, importBytes, laterBytes }) =>
      `${kilobytes(importBytes)} ${kilobytes(laterBytes)}  ${basename(entry, '.ts')}`,
  );
  process.stderr.write(
    `Function bundles: what an import loads (budget ${MAX_IMPORT_BYTES / 1000} KB), and what is loaded later\n${rows.join('\n')}\n`,
  );
  const over = bundles.filter(({ importBytes }) => importBytes > MAX_IMPORT_BYTES).map(({ entry }) => entry);
  if (over.length > 0) throw new Error(`over the bundle budget: ${over.join(', ')}`);
};
