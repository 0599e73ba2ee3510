/** The modules of a package from its sources, by esbuild. */
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { PROJECT } from '../local/program.ts';
import { packageOf, type RootManifest } from './manifest.ts';
import type { PackagePlan } from './packages.ts';

/** The oldest Node that the packages run on; `engines` in package.json says so too. */
const NODE = 'node20';

export const COMMON: BuildOptions = {
  absWorkingDir: PROJECT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: NODE,
  // e2b's CommonJS form does not bundle.
  mainFields: ['module', 'main'],
  // Names stay: errors are told apart by them, and stack traces are read.
  minifySyntax: true,
  metafile: true,
  logLevel: 'warning',
};

/** What the output imports that is neither Node's nor in the output itself. */
const importedBy = ({ outputs }: Metafile): string[] => {
  const specifiers = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external === true && !path.startsWith('node:'))
    .map(({ path }) => packageOf(path));
  return [...new Set(specifiers)].sort();
};

/** One module per entry and what they share in `chunks`; packages stay outside, but for those that are inlined. Answers what is imported. */
export const buildModules = async (
  plan: PackagePlan,
  root: RootManifest,
  outdir: string,
): Promise<string[]> => {
  const names = Object.keys({ ...root.dependencies, ...root.devDependencies });
  const outside = names.filter((name) => !plan.inlined.includes(name));
  const { metafile } = await build({
    ...COMMON,
    entryPoints: Object.values(plan.exports),
    outbase: '.',
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    external: outside.flatMap((name) => [name, `${name}/*`]),
    metafile: true,
  });
  return importedBy(metafile);
};
