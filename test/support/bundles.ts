/** What must hold of the bundle of each function, as `cdk deploy` would upload it. */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Job } from '../../adapters/jsonata/evaluator.ts';
import { CONTENT_FILE } from '../../cdk/bundle-content.ts';
import { type Bundle, MAX_IMPORT_BYTES } from '../../cdk/bundle-sizes.ts';
import { type DeployedRow, FUNCTIONS } from '../../cdk/functions.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate, PROJECT, type Template } from '../../local/template.ts';
import { loadablePackages } from './loaded-packages.ts';

const EVALUATING = ['advance-saga', 'call-tool', 'rewind', 'start-saga', 'submit-step'].map(
  (name) => `functions/${name}.ts`,
);

/** Functions of a stack without the examples. */
export const deployedFunctions = async () => {
  const { functions } = planCloud(await loadTemplate());
  const tools = FUNCTIONS.filter(({ tool }) => tool === true).map(({ entry }) => entry);
  return functions.filter(({ entry }) => !tools.includes(entry));
};

/** The same template, its functions run from their bundles. The tools of the examples have none. */
export const withBundles = (template: Template, bundles: readonly Bundle[]): Template => {
  const bundled = structuredClone(template);
  for (const { Metadata } of Object.values(bundled.Resources)) {
    const bundle = bundles.find(({ entry }) => entry === Metadata['walkback:entry']);
    if (bundle !== undefined) Metadata['walkback:entry'] = join(bundle.directory, 'index.mjs');
  }
  return bundled;
};

/** Of all its modules. */
export const textOf = async (directory: string): Promise<string> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.mjs'));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return texts.join('\n');
};

const rowOf = (entry: string): DeployedRow => {
  const row = FUNCTIONS.find((one) => (one.entry ?? `functions/${one.name}.ts`) === entry);
  if (row === undefined) throw new Error(`${entry} is the bundle of no function`);
  return row;
};

/** The programs below a folder. */
const programsIn = (directory: string): string[] => globSync('**/*', { cwd: directory }).sort();

/** Within its budget, with the program it sends, and loading at import only what its grants need. */
export const expectWhole = async (bundles: readonly Bundle[]): Promise<void> => {
  const programs = globSync('prebuilt{,/*}', { cwd: join(PROJECT, 'sandbox') }).sort();
  for (const { entry, directory, importBytes, packages } of bundles) {
    expect(importBytes, entry).toBeLessThan(MAX_IMPORT_BYTES);
    const files = await readdir(directory);
    expect(files, entry).toContain('index.mjs');
    expect(files.includes('jsonata-process.mjs'), entry).toBe(EVALUATING.includes(entry));
    const others = files.filter((name) => !name.endsWith('.mjs')).sort();
    expect(others, entry).toEqual([CONTENT_FILE, ...(rowOf(entry).grants.sandbox ? ['sandbox'] : [])]);
    if (files.includes('sandbox')) expect(programsIn(join(directory, 'sandbox')), entry).toEqual(programs);
    const loadable = loadablePackages(rowOf(entry));
    const undeclared = packages.filter((name) => !loadable.includes(name));
    expect(undeclared, `${entry} loads these at import (test/support/loaded-packages.ts)`).toEqual([]);
  }
};

/** Of Node's own, what nothing needs before it is called: it takes as long to load as a client of AWS. */
const FETCH = 'internal/deps/undici/undici';
const IMPORT_EACH = `
const loaded = () => process.moduleLoadList.some((name) => name.endsWith(${JSON.stringify(FETCH)}));
for (const file of JSON.parse(process.argv[1])) {
  await import(file);
  if (loaded()) {
    console.log(file);
    process.exit();
  }
}`;

/** The first file whose import loads `fetch`, or nothing. */
export const loadingFetch = async (bundles: readonly Bundle[]): Promise<string> => {
  const files = bundles.map(({ directory }) => join(directory, 'index.mjs'));
  const args = ['--input-type=module', '-e', IMPORT_EACH, JSON.stringify(files)];
  const env = { AWS_REGION: 'us-east-1' };
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
};

/** Functions that evaluate expressions have the process for it beside them, and it runs by itself. */
export const expectEvaluators = async (bundles: readonly Bundle[]): Promise<void> => {
  for (const { entry, directory } of bundles.filter((one) => EVALUATING.includes(one.entry))) {
    expect(await textOf(directory), entry).toContain('./jsonata-process.mjs');
    const child = fork(join(directory, 'jsonata-process.mjs'), [], { execArgv: [], env: {} });
    expect(await once(child, 'message')).toEqual([{ ready: true }, undefined]);
    const job: Job = {
      expressions: [{ source: '$sum(input.l)' }],
      scope: { input: { l: [1, 2] }, steps: {} },
      longestMs: 1_000,
    };
    child.send(job);
    expect(await once(child, 'message')).toEqual([{ answers: [{ text: '3' }] }, undefined]);
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  }
};

/** Fed by AWS itself: an empty batch is one they take. The others refuse what no schema accepts. */
const FED = ['walkback-publish-session-events', 'walkback-keep-words', 'walkback-publish-saga-events'];
/** These take everything, and ask for E2B's key, or read the table: nothing answers here. */
const EAGER = ['walkback-workspace-tools', 'walkback-measure-sagas'];

/** What makes a function load what traces it, and credentials for services that are not there. */
const AS_IN_LAMBDA = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
  AWS_LAMBDA_FUNCTION_NAME: 'f',
  _X_AMZN_TRACE_ID: 'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1',
  AWS_XRAY_DAEMON_ADDRESS: '127.0.0.1:1',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
};

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
export const expectToRun = async (bundles: readonly Bundle[]): Promise<number> => {
  const functions = await deployedFunctions();
  const calls = bundles.flatMap(({ entry, directory }) => {
    const fn = functions.find((one) => one.entry === entry);
    if (fn === undefined) throw new Error(`${entry} is the bundle of no function`);
    const fed = FED.includes(fn.name);
    const call = { file: join(directory, 'index.mjs'), environment: fn.environment };
    return [
      {
        name: fn.name,
        ended: fed ? 'well' : EAGER.includes(fn.name) ? 'StorageUnavailable' : 'InvalidInput',
        call: { ...call, event: fed ? { Records: [] } : { nonsense: true } },
      },
    ];
  });
  const input = JSON.stringify(calls.map(({ call }) => call));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', RUN_BUNDLES, input],
    { env: AS_IN_LAMBDA },
  );
  const ends = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect(ends.map((end, n) => [calls[n]?.name, end])).toEqual(calls.map(({ name, ended }) => [name, ended]));
  return calls.length;
};
