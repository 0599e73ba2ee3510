/** The bundles of another checkout, to measure before and after in one run. */
import { symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { bundlesIn } from '../../cdk/bundle-sizes.ts';
import { runNode } from '../node.ts';

interface NamedBundle {
  name: string;
  /** The module that Lambda imports. */
  file: string;
}

const described = (outdir: string): NamedBundle[] =>
  bundlesIn(outdir).map(({ entry, directory }) => ({
    name: basename(entry, '.ts'),
    file: join(directory, 'index.mjs'),
  }));

/** A full synth of that checkout, by name. Its `node_modules` stand for what the runtime of Lambda brings. */
export const bundlesOf = async (checkout: string, outdir: string): Promise<Map<string, string>> => {
  const project = resolve(checkout);
  await runNode([join(project, 'cdk/app.ts')], project, { CDK_OUTDIR: outdir });
  await symlink(join(project, 'node_modules'), join(outdir, 'node_modules'));
  return new Map(described(outdir).map(({ name, file }) => [name, file]));
};
