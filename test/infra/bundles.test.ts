import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';

const run = promisify(execFile);
const MAX_BUNDLE_BYTES = 1_500_000;
const SYNTH_TIMEOUT_MS = 240_000;

/** Asset directories of a full synth, as `cdk deploy` would upload them. */
let outdir: string;
let bundles: string[];

beforeAll(async () => {
  outdir = await mkdtemp(join(tmpdir(), 'walkback-bundles-'));
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], CDK_OUTDIR: outdir };
  await run(process.execPath, ['cdk/app.ts'], { cwd: PROJECT, env });
  // What the Lambda runtime brings: the AWS SDK.
  await symlink(join(PROJECT, 'node_modules'), join(outdir, 'node_modules'));
  bundles = (await readdir(outdir))
    .filter((name) => name.startsWith('asset.'))
    .map((name) => join(outdir, name));
}, SYNTH_TIMEOUT_MS);
afterAll(() => rm(outdir, { recursive: true, force: true }));

/** The functions of a stack without examples. */
const deployed = async () =>
  planCloud(await loadTemplate()).functions.filter(({ entry }) => entry.startsWith('functions/'));

test('every function has a bundle within its budget, readable and with the scripts it sends', async () => {
  const functions = await deployed();
  expect(bundles).toHaveLength(functions.length);
  const scripts = (await readdir(join(PROJECT, 'adapters/git'))).filter((name) => name.endsWith('.sh'));
  for (const bundle of bundles) {
    expect((await stat(join(bundle, 'index.mjs'))).size).toBeLessThan(MAX_BUNDLE_BYTES);
    expect((await readdir(bundle)).sort()).toEqual(['index.mjs', ...scripts].sort());
  }
});

test(
  'every bundle runs by itself with the variables its function is given',
  async () => {
    const functions = await deployed();
    const started: string[] = [];
    for (const bundle of bundles) {
      const source = await readFile(join(bundle, 'index.mjs'), 'utf8');
      const fn = functions.find(({ entry }) => source.includes(`// ${entry}\n`));
      if (fn === undefined) throw new Error(`${bundle} is the bundle of no function`);
      started.push(fn.name);
      // An event no schema accepts: everything up to the use case has run when it is refused.
      const script = `
      const { handler } = await import(${JSON.stringify(join(bundle, 'index.mjs'))});
      const context = { getRemainingTimeInMillis: () => 1000, awsRequestId: 'r', functionName: 'f' };
      const event = ${fn.name.startsWith('walkback-publish-') ? '{ Records: [] }' : '{ nonsense: true }'};
      console.log('ended', await handler(event, context).then(() => 'well', (error) => error.name));`;
      const env = { ...fn.environment, AWS_REGION: 'us-east-1', POWERTOOLS_LOG_LEVEL: 'SILENT' };
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
      const expected = fn.name.startsWith('walkback-publish-') ? 'ended well' : 'ended InvalidInput';
      expect(stdout, fn.name).toContain(expected);
    }
    expect(started.sort()).toEqual(functions.map((fn) => fn.name).sort());
  },
  SYNTH_TIMEOUT_MS,
);
