/** The bundle of a function or two, others each time. In `npm run test:long` those of all functions, as the whole stack is deployed: what is in them, and that they work. */
import { execFile } from 'node:child_process';
import { mkdtemp, mkdtempDisposable, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BUNDLE_OPTIONS } from '../../cdk/bundle-options.ts';
import { type Bundle, bundlesIn } from '../../cdk/bundle-sizes.ts';
import { WalkbackFunction } from '../../cdk/constructs/walkback-function.ts';
import { FUNCTIONS } from '../../cdk/functions.ts';
import { PEOPLE_CONTEXT } from '../../local/synthesis.ts';
import { loadTemplate, PROJECT, type Resource, type Template } from '../../local/template.ts';
import catalog from '../../tools/catalog.json' with { type: 'json' };
import {
  deployedFunctions,
  expectEvaluators,
  expectToRun,
  expectWhole,
  loadingFetch,
  textOf,
  withBundles,
} from '../support/bundles.ts';
import { longTest } from '../support/sampled-test.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';

const run = promisify(execFile);
const SYNTH_TIMEOUT_MS = 600_000;

const ROWS = FUNCTIONS.filter(({ tool }) => tool !== true);

/** `npm run test:long` has the bundles of all of them anyway. */
test.skipIf(WHOLE)(
  'a function has a bundle within its budget, with the program it sends, and it runs by itself',
  async () => {
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
  },
);

test('no function carries code of the command or of the embedded cloud', async () => {
  const entryPoints = ROWS.map(({ name, entry }) => entry ?? `functions/${name}.ts`);
  const { metafile } = await build({ ...BUNDLE_OPTIONS, entryPoints, outdir: 'unwritten', write: false });
  const carried = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  expect(carried).toContain('functions/console.ts');
  expect(carried.filter((path) => /^(?:cli|local)\//.test(path))).toEqual([]);
});

describe('the whole stack', () => {
  /** Asset directories of a full synth, as `cdk deploy` would upload them. */
  let outdir: string;
  let bundles: Bundle[];
  /** The synth ran where there is no network at all. */
  let cutOff: boolean;

  beforeAll(async () => {
    outdir = await mkdtemp(join(tmpdir(), 'walkback-bundles-'));
    // As the CDK's command does it.
    const { context }: { context: object } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8'));
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      CDK_OUTDIR: outdir,
      // CloudFormation's schemas take ten seconds: `npm run synth` and nag.test.ts ask them.
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...PEOPLE_CONTEXT }),
    };
    // A network namespace of its own, where the kernel lets a user make one.
    cutOff = await run('unshare', ['-rn', 'true']).then(
      () => true,
      () => false,
    );
    const [file, ...args] = [...(cutOff ? ['unshare', '-rn'] : []), process.execPath, 'cdk/app.ts'];
    await run(file ?? '', args, { cwd: PROJECT, env });
    bundles = bundlesIn(outdir);
  }, SYNTH_TIMEOUT_MS);
  afterAll(() => rm(outdir, { recursive: true, force: true }));

  longTest('synthesis needs no network, and looks nothing up', async ({ skip }) => {
    const manifest = await readFile(join(outdir, 'manifest.json'), 'utf8');
    expect(JSON.parse(manifest)).not.toHaveProperty('missing');
    skip(!cutOff, 'NOT TESTED: no network namespace can be made here (unshare -rn)');
  });

  longTest(
    'every function has a bundle within its budget, with the program it sends, and loads at import only what its grants need',
    async () => {
      expect(bundles.map(({ entry }) => entry).sort()).toEqual(
        (await deployedFunctions()).map(({ entry }) => entry).sort(),
      );
      await expectWhole(bundles);
    },
  );

  longTest(
    'functions that evaluate expressions have the process for it beside them, and it runs by itself',
    () => expectEvaluators(bundles),
  );

  longTest('no import loads what Node needs for fetch', async () => {
    expect(await loadingFetch(bundles)).toBe('');
  });

  longTest('functions that read the catalog have the built-in tools and templates', async () => {
    const names = [...catalog.tools, ...catalog.definitions].map(({ name }) => name);
    expect(names).toContain('merge-queue');
    for (const entry of ['functions/list-catalog.ts', 'functions/start-saga.ts']) {
      const directory = bundles.find((bundle) => bundle.entry === entry)?.directory ?? '';
      const text = await textOf(directory);
      // Lines of a bundle are short, so that one may end in the middle of a text.
      const whole = text.replaceAll(/\\?\n/g, '');
      expect(
        names.filter((name) => !whole.includes(`name:"${name}"`)),
        entry,
      ).toEqual([]);
    }
  });

  longTest(
    'what is deployed and what the embedded cloud runs differ in bundles and examples only',
    async () => {
      const local = await loadTemplate();
      const full = JSON.parse(await readFile(join(outdir, 'Walkback.template.json'), 'utf8')) as Template;
      const differing = Object.keys(local.Resources).filter((id) => {
        const without = (resource: Resource | undefined) => {
          const { Code: _, ...rest } = resource?.Properties ?? {};
          return JSON.stringify([resource?.Type, rest]);
        };
        return without(local.Resources[id]) !== without(full.Resources[id]);
      });
      // The machine, and functions that drive sagas, may call the tool; the catalog, alarms and dashboard look at it.
      expect(
        differing.filter(
          (id) =>
            !/ToolRefund|toolrefund|(?:Saga|PutCatalog|SubmitStep|CallTool)RoleDefaultPolicy|Dashboard/.test(
              id,
            ),
        ),
      ).toEqual([]);
      expect(Object.keys(full.Resources).filter((id) => !(id in local.Resources))).toEqual([]);
    },
  );

  longTest('every bundle runs by itself with the variables its function is given', async () => {
    expect(await expectToRun(bundles)).toBe(bundles.length);
  });

  longTest(
    'every bundle does the work of its function, also what is loaded by the calls that need it',
    async () => {
      const [{ runningFunction }, { startSagaCloud }, { workPeople, workSagas, workSessions }] =
        await Promise.all([
          import('../../local/lambda/invoke.ts'),
          import('../support/saga-cloud.ts'),
          import('../support/all-work.ts'),
        ]);
      const ran = vi.spyOn(runningFunction, 'run');
      const sagas = await startSagaCloud({ template: withBundles(await loadTemplate(), bundles) });
      try {
        await workSagas(sagas);
        await workSessions(sagas);
        await workPeople(sagas);
      } finally {
        await sagas.close();
      }
      const names = new Set(ran.mock.calls.map(([name]) => name));
      expect((await deployedFunctions()).map(({ name }) => name).filter((name) => !names.has(name))).toEqual(
        [],
      );
    },
  );
});
