/**
 * Makes the bundle of one function: `node cdk/bundle-function.ts functions/timeline.ts <directory>`. The
 * bundle contains the AWS SDK: the part that a function uses loads in half the time of the whole SDK, and is
 * the version that was tested.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { CONTENT_FILE, contentOf } from './bundle-content.ts';
import { BUNDLE_OPTIONS } from './bundle-options.ts';
import { copySandbox } from './copy-sandbox.ts';

const READS_SANDBOX = 'adapters/git/program/build.ts';

const [entry, outdir] = process.argv.slice(2);
if (entry === undefined || outdir === undefined)
  throw new Error('usage: bundle-function.ts <entry> <directory>');

const bundle = (source: string, name: string) =>
  build({ ...BUNDLE_OPTIONS, entryPoints: [{ in: source, out: name }], outdir });

const { metafile } = await bundle(entry, 'index');
if (metafile === undefined) throw new Error('esbuild did not say what it did');
// The separate process for expressions, beside the functions that start it.
if ('adapters/jsonata/evaluator.ts' in metafile.inputs)
  await bundle('adapters/jsonata/process.ts', 'jsonata-process');
// Read at run time by the code that works in sandboxes.
if (READS_SANDBOX in metafile.inputs) await copySandbox(join(outdir, 'sandbox'));
await writeFile(join(outdir, CONTENT_FILE), `${JSON.stringify(contentOf(entry, metafile))}\n`);
