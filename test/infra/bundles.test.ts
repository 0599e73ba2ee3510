import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BundleSize, bundleSizes, MAX_BUNDLE_BYTES } from '../../cdk/bundle-sizes.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT, type Resource, type Template } from '../../local/template.ts';

const run = promisify(execFile);
const SYNTH_TIMEOUT_MS = 240_000;

/** Asset directories of a full synth, as `cdk deploy` would upload them. */
let outdir: string;
let bundles: BundleSize[];

beforeAll(async () => {
  outdir = await mkdtemp(join(tmpdir(), 'walkback-bundles-'));
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], CDK_OUTDIR: outdir };
  await run(process.execPath, ['cdk/app.ts'], { cwd: PROJECT, env });
  // What the Lambda runtime brings: the AWS SDK.
  await symlink(join(PROJECT, 'node_modules'), join(outdir, 'node_modules'));
  bundles = bundleSizes(outdir);
}, SYNTH_TIMEOUT_MS);
afterAll(() => rm(outdir, { recursive: true, force: true }));

/** Functions of a stack without the examples. */
const deployed = async () => {
  const { functions } = planCloud(await loadTemplate());
  const tools = FUNCTIONS.filter(({ tool }) => tool === true).map(({ entry }) => entry);
  return functions.filter(({ entry }) => !tools.includes(entry));
};

test('every function has a bundle within its budget, readable and with the scripts it sends', async () => {
  expect(bundles.map(({ entry }) => entry).sort()).toEqual(
    (await deployed()).map(({ entry }) => entry).sort(),
  );
  const scripts = (await readdir(join(PROJECT, 'adapters/git'))).filter((name) => name.endsWith('.sh'));
  for (const { directory, sizeBytes } of bundles) {
    expect(sizeBytes).toBeLessThan(MAX_BUNDLE_BYTES);
    expect((await readdir(directory)).sort()).toEqual(['index.mjs', ...scripts].sort());
  }
});

test('what is deployed and what the embedded cloud runs differ in bundles and examples only', async () => {
  const local = await loadTemplate();
  const full = JSON.parse(await readFile(join(outdir, 'Walkback.template.json'), 'utf8')) as Template;
  const differing = Object.keys(local.Resources).filter((id) => {
    const without = (resource: Resource | undefined) => {
      const { Code: _, ...rest } = resource?.Properties ?? {};
      return JSON.stringify([resource?.Type, rest]);
    };
    return without(local.Resources[id]) !== without(full.Resources[id]);
  });
  // The machine may call the tool, alarms and dashboard look at it.
  expect(differing.filter((id) => !/ToolRefund|toolrefund|SagaRoleDefaultPolicy|Dashboard/.test(id))).toEqual(
    [],
  );
  expect(Object.keys(full.Resources).filter((id) => !(id in local.Resources))).toEqual([]);
});

/** Fed by AWS itself: an empty batch is one they take. The others refuse what no schema accepts. */
const FED = ['walkback-publish-events', 'walkback-publish-saga-events'];

test(
  'every bundle runs by itself with the variables its function is given',
  async () => {
    const functions = await deployed();
    for (const { entry, directory } of bundles) {
      const fn = functions.find((one) => one.entry === entry);
      if (fn === undefined) throw new Error(`${entry} is the bundle of no function`);
      // Reads the table at once: loading it is what can be seen without one.
      if (fn.name === 'walkback-measure-sagas') continue;
      const script = `
      const { handler } = await import(${JSON.stringify(join(directory, 'index.mjs'))});
      const context = { getRemainingTimeInMillis: () => 1000, awsRequestId: 'r', functionName: 'f' };
      const event = ${FED.includes(fn.name) ? '{ Records: [] }' : '{ nonsense: true }'};
      console.log('ended', await handler(event, context).then(() => 'well', (error) => error.name));`;
      const env = { ...fn.environment, AWS_REGION: 'us-east-1', POWERTOOLS_LOG_LEVEL: 'SILENT' };
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env });
      expect(stdout, fn.name).toContain(FED.includes(fn.name) ? 'ended well' : 'ended InvalidInput');
    }
  },
  SYNTH_TIMEOUT_MS,
);
