/** The bundles of another checkout, to measure before and after in one run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { bundlesIn } from '../../cdk/bundle-sizes.ts';
import { runNode } from '../node.ts';

interface NamedBundle {
  name: string;
  /** The module that Lambda imports. */
  file: string;
}

/** What older checkouts wrote at the top of a bundle, which had no description beside it. */
const nameIn = (file: string): string =>
  basename(/^\/\/ (\S+\.ts)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 'unknown', '.ts');

const described = (outdir: string): NamedBundle[] =>
  bundlesIn(outdir).map(({ entry, directory }) => ({
    name: basename(entry, '.ts'),
    file: join(directory, 'index.mjs'),
  }));

const undescribed = (outdir: string): NamedBundle[] =>
  readdirSync(outdir)
    .map((name) => join(outdir, name, 'index.mjs'))
    .filter((file) => existsSync(file))
    .map((file) => ({ name: nameIn(file), file }));

/** A full synth of that checkout, by name. Its `node_modules` stand for what the runtime of Lambda brings. */
export const bundlesOf = async (checkout: string, outdir: string): Promise<Map<string, string>> => {
  const project = resolve(checkout);
  await runNode([join(project, 'cdk/app.ts')], project, { CDK_OUTDIR: outdir });
  await symlink(join(project, 'node_modules'), join(outdir, 'node_modules'));
  const known = described(outdir);
  const bundles = known.length > 0 ? known : undescribed(outdir);
  return new Map(bundles.map(({ name, file }) => [name, file]));
};
