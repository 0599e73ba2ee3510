/**
 * The `@walkback/cli` package: the command, the embedded cloud and the functions it runs, in one folder of modules that
 * share what they have in common.
 */
import { chmod, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { copySandbox } from '../cdk/copy-sandbox.ts';
import { PROJECT } from '../local/program.ts';
import { loadTemplate, type Template } from '../local/template.ts';
import { COMMON } from './modules.ts';

/** CommonJS packages among the modules ask for what is Node's. */
const REQUIRE = [
  "import { createRequire as walkbackRequire } from 'node:module';",
  'const require = walkbackRequire(import.meta.url);',
].join('\n');

/** `functions/checkpoint.ts` is `functions-checkpoint`, beside what it shares with the others. */
const moduleOf = (source: string): string => source.replaceAll('/', '-').replace(/\.ts$/, '');

/** The template names each function's source; in the package it names the module made of it. */
const withBuiltEntries = (template: Template): { template: Template; entries: Record<string, string> } => {
  const entries: Record<string, string> = {};
  const resources = Object.entries(template.Resources).map(([id, resource]) => {
    const source = resource.Metadata['walkback:entry'];
    if (typeof source !== 'string') return [id, resource];
    const module = moduleOf(source);
    entries[module] = source;
    return [id, { ...resource, Metadata: { ...resource.Metadata, 'walkback:entry': `${module}.mjs` } }];
  });
  return { template: { ...template, Resources: Object.fromEntries(resources) }, entries };
};

export const buildCommand = async (outdir: string): Promise<void> => {
  const { template, entries } = withBuiltEntries(await loadTemplate());
  const lib = join(outdir, 'lib');
  await build({
    ...COMMON,
    entryPoints: {
      main: 'cli/main.ts',
      'older-node': 'build/older-node.mjs',
      'jsonata-process': 'adapters/jsonata/process.ts',
      'own-functions': 'local/lambda/thread-program.ts',
      ...entries,
    },
    outdir: lib,
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    banner: { js: REQUIRE },
  });
  await writeFile(join(lib, 'template.json'), JSON.stringify(template));
  await copySandbox(join(lib, 'sandbox'));
  // Beside the command, where its hooks look for it.
  await cp(join(PROJECT, 'integrations'), join(outdir, 'integrations'), { recursive: true });
  const bin = join(outdir, 'bin/walkback.mjs');
  await mkdir(join(outdir, 'bin'), { recursive: true });
  await copyFile(join(PROJECT, 'bin/packaged.mjs'), bin);
  await chmod(bin, 0o755);
};
