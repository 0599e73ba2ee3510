/** `npm run build`: the npm packages under dist (`--out DIR`: there), or those of them that are named. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT } from '../local/program.ts';
import { buildCommand } from './command.ts';
import { buildBundles } from './construct.ts';
import { buildDeclarations } from './declarations.ts';
import { manifestFor, type RootManifest, rootManifest } from './manifest.ts';
import { buildModules } from './modules.ts';
import { clientPackage, commandPackage, constructPackage, type PackagePlan } from './packages.ts';
import { readmeOf } from './readme.ts';

interface Made {
  imported: readonly string[];
  optional?: Readonly<Record<string, string>>;
}

/** Builds a package that is imported. */
const buildLibrary = async (plan: PackagePlan, root: RootManifest, outdir: string): Promise<Made> => {
  const [imported, named] = await Promise.all([
    buildModules(plan, root, outdir),
    buildDeclarations(Object.values(plan.exports), outdir),
  ]);
  return { imported: [...imported, ...named] };
};

const BUILDERS: Record<string, (root: RootManifest, outdir: string) => Promise<[PackagePlan, Made]>> = {
  walkback: async (root, outdir) => {
    const plan = clientPackage();
    return [plan, await buildLibrary(plan, root, outdir)];
  },
  cli: async (root, outdir) => {
    await buildCommand(outdir);
    // The database is a binary for one kind of machine; npm takes what fits.
    return [commandPackage(), { imported: [], optional: root.optionalDependencies }];
  },
  cdk: async (root, outdir) => {
    const plan = constructPackage();
    const [made] = await Promise.all([buildLibrary(plan, root, outdir), buildBundles(outdir)]);
    return [plan, made];
  },
};

const buildPackage = async (directory: string, root: RootManifest, outdir: string): Promise<void> => {
  const build = BUILDERS[directory];
  if (build === undefined)
    throw new Error(`there is no package ${directory}: name some of ${Object.keys(BUILDERS).join(', ')}`);
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  const [plan, made] = await build(root, outdir);
  const manifest = manifestFor(root, plan, { ...made, files: (await readdir(outdir)).sort() });
  await writeFile(join(outdir, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(outdir, 'README.md'), readmeOf(plan));
};

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(PROJECT, 'dist') } },
  allowPositionals: true,
});
const root = rootManifest.parse(JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')));
for (const directory of positionals.length > 0 ? positionals : Object.keys(BUILDERS)) {
  const outdir = join(values.out, directory);
  await buildPackage(directory, root, outdir);
  process.stdout.write(`${outdir}\n`);
}
