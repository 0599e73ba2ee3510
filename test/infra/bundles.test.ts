import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Job } from '../../adapters/jsonata/evaluator.ts';
import { type BundleSize, bundleSizes, MAX_BUNDLE_BYTES } from '../../cdk/bundle-sizes.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT, type Resource, type Template } from '../../local/template.ts';

const run = promisify(execFile);
const SYNTH_TIMEOUT_MS = 240_000;

const EVALUATING = ['functions/advance-saga.ts', 'functions/start-saga.ts'];

/** Asset directories of a full synth, as `cdk deploy` would upload them. */
let outdir: string;
let bundles: BundleSize[];
/** The synth ran where there is no network at all. */
let cutOff: boolean;

beforeAll(async () => {
  outdir = await mkdtemp(join(tmpdir(), 'walkback-bundles-'));
  // As the CDK's command does it.
  const { context }: { context: unknown } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8'));
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    CDK_OUTDIR: outdir,
    // CloudFormation's schemas take ten seconds: `npm run synth` and nag.test.ts ask them.
    CDK_VALIDATION: 'false',
    CDK_CONTEXT_JSON: JSON.stringify(context),
  };
  // A network namespace of its own, where the kernel lets a user make one.
  cutOff = await run('unshare', ['-rn', 'true']).then(
    () => true,
    () => false,
  );
  const [file, ...args] = [...(cutOff ? ['unshare', '-rn'] : []), process.execPath, 'cdk/app.ts'];
  await run(file ?? '', args, { cwd: PROJECT, env });
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

test('synthesis needs no network, and looks nothing up', async ({ skip }) => {
  const manifest = await readFile(join(outdir, 'manifest.json'), 'utf8');
  expect(JSON.parse(manifest)).not.toHaveProperty('missing');
  skip(!cutOff, 'NOT TESTED: no network namespace can be made here (unshare -rn)');
});

test('every function has a bundle within its budget, readable and with the scripts it sends', async () => {
  expect(bundles.map(({ entry }) => entry).sort()).toEqual(
    (await deployed()).map(({ entry }) => entry).sort(),
  );
  const scripts = await readdir(join(PROJECT, 'sandbox'), { recursive: true });
  for (const { entry, directory, sizeBytes } of bundles) {
    expect(sizeBytes).toBeLessThan(MAX_BUNDLE_BYTES);
    const more = EVALUATING.includes(entry) ? ['jsonata-process.mjs'] : [];
    expect((await readdir(directory)).sort()).toEqual(['index.mjs', 'sandbox', ...more].sort());
    expect((await readdir(join(directory, 'sandbox'), { recursive: true })).sort()).toEqual(scripts.sort());
  }
});

test('functions that evaluate expressions have the process for it beside them, and it runs by itself', async () => {
  for (const { entry, directory } of bundles.filter((one) => EVALUATING.includes(one.entry))) {
    expect(await readFile(join(directory, 'index.mjs'), 'utf8'), entry).toContain('./jsonata-process.mjs');
    const child = fork(join(directory, 'jsonata-process.mjs'), [], { execArgv: [], env: {} });
    expect(await once(child, 'message')).toEqual([{ ready: true }, undefined]);
    const job: Job = {
      expressions: [{ source: '$sum(input.l)' }],
      scope: { input: { l: [1, 2] }, steps: {} },
    };
    child.send(job);
    expect(await once(child, 'message')).toEqual([{ answers: [{ text: '3' }] }, undefined]);
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  }
});

test('a function imports the clients of the services it calls, and no others', async () => {
  const clientsOf = async (entry: string): Promise<string[]> => {
    const directory = bundles.find((bundle) => bundle.entry === entry)?.directory ?? '';
    const text = await readFile(join(directory, 'index.mjs'), 'utf8');
    return [
      ...new Set(
        [...text.matchAll(/^import .*"@aws-sdk\/(client-[\w-]+)";$/gm)].map(([, name]) => name ?? ''),
      ),
    ];
  };
  expect(await clientsOf('functions/timeline.ts')).toEqual(['client-dynamodb']);
  expect(await clientsOf('functions/publish-session-events.ts')).not.toContain('client-s3');
  expect(await clientsOf('functions/rollback.ts')).not.toContain('client-eventbridge');
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
  // The machine may call the tool; the catalog, alarms and dashboard look at it.
  expect(
    differing.filter(
      (id) => !/ToolRefund|toolrefund|(?:Saga|PutCatalog)RoleDefaultPolicy|Dashboard/.test(id),
    ),
  ).toEqual([]);
  expect(Object.keys(full.Resources).filter((id) => !(id in local.Resources))).toEqual([]);
});

/** Fed by AWS itself: an empty batch is one they take. The others refuse what no schema accepts. */
const FED = ['walkback-publish-events', 'walkback-publish-saga-events'];

/** Runs every bundle in a process without our sources, one after the other, each with its own variables and no others. */
const RUN_BUNDLES = `
const context = { getRemainingTimeInMillis: () => 1000, awsRequestId: 'r', functionName: 'f' };
const inherited = { ...process.env };
for (const { file, environment, event } of JSON.parse(process.argv[1])) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, inherited, environment);
  const { handler } = await import(file);
  console.log(await handler(event, context).then(() => 'well', (error) => error.name));
}`;

test(
  'every bundle runs by itself with the variables its function is given',
  async () => {
    const functions = await deployed();
    const calls = bundles.flatMap(({ entry, directory }) => {
      const fn = functions.find((one) => one.entry === entry);
      if (fn === undefined) throw new Error(`${entry} is the bundle of no function`);
      const fed = FED.includes(fn.name);
      // Reads the table at once: loading it is what can be seen without one.
      if (fn.name === 'walkback-measure-sagas') return [];
      const call = { file: join(directory, 'index.mjs'), environment: fn.environment };
      return [
        {
          name: fn.name,
          ended: fed ? 'well' : 'InvalidInput',
          call: { ...call, event: fed ? { Records: [] } : { nonsense: true } },
        },
      ];
    });
    const input = JSON.stringify(calls.map(({ call }) => call));
    const env = { AWS_REGION: 'us-east-1', POWERTOOLS_LOG_LEVEL: 'SILENT' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', RUN_BUNDLES, input], {
      env,
    });
    const ends = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(ends.map((end, n) => [calls[n]?.name, end])).toEqual(
      calls.map(({ name, ended }) => [name, ended]),
    );
  },
  SYNTH_TIMEOUT_MS,
);
