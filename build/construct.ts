/** The `@walkback/cdk` package: the bundles that `cdk deploy` would make of the functions, made once, beside the construct. */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundlesIn } from '../cdk/bundle-sizes.ts';
import { FUNCTIONS } from '../cdk/functions.ts';
import { PROJECT } from '../local/program.ts';
import { PEOPLE_CONTEXT } from '../local/synthesis.ts';

/** Synthesises as `cdk synth` does, and copies every function's bundle by the function's name. */
export const buildBundles = async (outdir: string): Promise<void> => {
  const synthesised = await mkdtemp(join(tmpdir(), 'walkback-bundles-'));
  try {
    const env = {
      ...process.env,
      CDK_OUTDIR: synthesised,
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify(PEOPLE_CONTEXT),
    };
    await promisify(execFile)(process.execPath, [join(PROJECT, 'cdk/app.ts')], { cwd: PROJECT, env });
    for (const { entry, directory } of bundlesIn(synthesised)) {
      const row = FUNCTIONS.find((one) => one.entry === entry || `functions/${one.name}.ts` === entry);
      if (row === undefined) throw new Error(`${entry} is the bundle of no function`);
      await cp(directory, join(outdir, 'cdk/functions', row.name), { recursive: true });
    }
  } finally {
    await rm(synthesised, { recursive: true, force: true });
  }
  await copyFile(join(PROJECT, 'statemachines/saga.asl.json'), join(outdir, 'cdk/saga.asl.json'));
};
