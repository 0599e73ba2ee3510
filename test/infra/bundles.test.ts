/** The bundle of a function or two, others each time; all of them, as the whole stack is deployed, in bundles.long.test.ts. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { BUNDLE_OPTIONS } from '../../cdk/bundle-options.ts';
import { bundlesIn } from '../../cdk/bundle-sizes.ts';
import { WalkbackFunction } from '../../cdk/constructs/walkback-function.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { expectEvaluators, expectToRun, expectWhole, loadingFetch } from '../support/bundles.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const ROWS = FUNCTIONS.filter(({ tool }) => tool !== true);

test('a function has a bundle within its budget, with the scripts it sends, and it runs by itself', async () => {
  await using outdir = await mkdtempDisposable(join(tmpdir(), 'walkback-bundles-'));
  const app = new App({ outdir: outdir.path });
  const stack = new Stack(app, 'Walkback');
  const rows = sampled(ROWS, { every: 15, offset: printedSeed('bundles') });
  for (const row of rows) {
    new WalkbackFunction(stack, row.name, {
      ...row,
      namePrefix: 'walkback',
      logRetention: RetentionDays.ONE_DAY,
      removalPolicy: RemovalPolicy.DESTROY,
      tracing: false,
    });
  }
  app.synth();
  const bundles = bundlesIn(outdir.path);
  expect(bundles).toHaveLength(rows.length);
  await expectWhole(bundles);
  await expectEvaluators(bundles);
  expect(await loadingFetch(bundles)).toBe('');
  expect(await expectToRun(bundles)).toBeGreaterThan(0);
});

test('no function carries code of the command or of the embedded cloud', async () => {
  const entryPoints = ROWS.map(({ name, entry }) => entry ?? `functions/${name}.ts`);
  const { metafile } = await build({ ...BUNDLE_OPTIONS, entryPoints, outdir: 'unwritten', write: false });
  const carried = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  expect(carried).toContain('functions/console.ts');
  expect(carried.filter((path) => /^(?:cli|local)\//.test(path))).toEqual([]);
});
