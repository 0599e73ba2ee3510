/** What must hold of the bundle of each function, as `cdk deploy` would upload it. */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Job } from '../../adapters/jsonata/evaluator.ts';
import { type BundleSize, MAX_BUNDLE_BYTES } from '../../cdk/bundle-sizes.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT } from '../../local/template.ts';

const EVALUATING = ['advance-saga', 'call-tool', 'rewind', 'start-saga', 'submit-step'].map(
  (name) => `functions/${name}.ts`,
);

/** Functions of a stack without the examples. */
export const deployedFunctions = async () => {
  const { functions } = planCloud(await loadTemplate());
  const tools = FUNCTIONS.filter(({ tool }) => tool === true).map(({ entry }) => entry);
  return functions.filter(({ entry }) => !tools.includes(entry));
};

/** Within its budget, and with the scripts it sends. */
export const expectWhole = async (bundles: readonly BundleSize[]): Promise<void> => {
  const scripts = await readdir(join(PROJECT, 'sandbox'), { recursive: true });
  for (const { entry, directory, sizeBytes } of bundles) {
    expect(sizeBytes, entry).toBeLessThan(MAX_BUNDLE_BYTES);
    const more = EVALUATING.includes(entry) ? ['jsonata-process.mjs'] : [];
    expect((await readdir(directory)).sort(), entry).toEqual(['index.mjs', 'sandbox', ...more].sort());
    expect((await readdir(join(directory, 'sandbox'), { recursive: true })).sort()).toEqual(scripts.sort());
  }
};

/** Functions that evaluate expressions have the process for it beside them, and it runs by itself. */
export const expectEvaluators = async (bundles: readonly BundleSize[]): Promise<void> => {
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
};

/** Fed by AWS itself: an empty batch is one they take. The others refuse what no schema accepts. */
const FED = ['walkback-publish-events', 'walkback-publish-saga-events'];
/** It takes everything, and asks for E2B's key first, which nobody keeps here. */
const KEYED = 'walkback-workspace-tools';

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

/** Every bundle runs by itself with the variables its function is given. Answers how many ran. */
export const expectToRun = async (bundles: readonly BundleSize[]): Promise<number> => {
  const functions = await deployedFunctions();
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
        ended: fed ? 'well' : fn.name === KEYED ? 'ConfigurationError' : 'InvalidInput',
        call: { ...call, event: fed ? { Records: [] } : { nonsense: true } },
      },
    ];
  });
  const input = JSON.stringify(calls.map(({ call }) => call));
  const env = { AWS_REGION: 'us-east-1', POWERTOOLS_LOG_LEVEL: 'SILENT' };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', RUN_BUNDLES, input],
    { env },
  );
  const ends = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(ends.map((end, n) => [calls[n]?.name, end])).toEqual(calls.map(({ name, ended }) => [name, ended]));
  return calls.length;
};
