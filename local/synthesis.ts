/**
 * Synthesises the template from the sources. This takes seconds, so the result is kept under
 * node_modules/.cache, by a hash of everything that it is made from. A package has no sources and never loads
 * this file.
 */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { glob, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import { WalkbackError } from '../core/shared/errors.ts';
import { PROJECT } from './program.ts';

/** Everything that the template is made from. */
export const INPUTS = ['cdk/**/*.ts', 'contract/**/*.ts', 'cdk.json', 'package-lock.json', 'statemachines/*'];

/**
 * Makes the template include the API and the console. The embedded cloud sets by itself where people sign in,
 * and accepts claims. In a deployment, both are configured.
 */
export const PEOPLE_CONTEXT = {
  'walkback:oidcIssuer': 'https://walkback.localhost',
  'walkback:oidcAudience': 'walkback',
  'walkback:requireVerifiedApprover': false,
};

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({ type: z.string(), properties: z.object({ templateFile: z.string().optional() }).optional() }),
  ),
});

const cdkJsonSchema = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

const hashInputs = async (): Promise<string> => {
  const files = await Array.fromAsync(glob(INPUTS, { cwd: PROJECT }));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = await readFile(join(PROJECT, file));
    hash.update(`${file}\0${content.byteLength}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
};

/**
 * Runs cdk/app.ts alone: no account, no network, no bundling of functions, with the examples' tools and the
 * API.
 */
const synthesise = async (outdir: string): Promise<string> => {
  const { context } = cdkJsonSchema.parse(JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8')));
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // In a deployment, the template is checked against CloudFormation's schemas. Here that would only take
    // seconds.
    CDK_VALIDATION: 'false',
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify({
      ...context,
      'walkback:examples': true,
      ...PEOPLE_CONTEXT,
      'aws:cdk:bundling-stacks': [],
    }),
  };
  try {
    await promisify(execFile)(process.execPath, ['cdk/app.ts'], { cwd: PROJECT, env });
  } catch (cause) {
    const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String(cause);
    throw new WalkbackError('ConfigurationError', `cdk/app.ts failed: ${stderr.slice(0, 2_000)}`, { cause });
  }
  const manifest = manifestSchema.parse(JSON.parse(await readFile(join(outdir, 'manifest.json'), 'utf8')));
  const files = Object.values(manifest.artifacts)
    .filter((artifact) => artifact.type === 'aws:cloudformation:stack')
    .map((artifact) => artifact.properties?.templateFile)
    .filter((file) => file !== undefined);
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new WalkbackError('ConfigurationError', `cdk/app.ts must make one stack, it made ${files.length}`);
  }
  return readFile(join(outdir, file), 'utf8');
};

const synthesiseInto = async (cached: string): Promise<string> => {
  const outdir = await mkdtemp(join(tmpdir(), 'walkback-synth-'));
  try {
    const text = await synthesise(outdir);
    await mkdir(dirname(cached), { recursive: true });
    // Several processes may do this at the same time. The last rename wins, and all of them wrote the same.
    const temporary = `${cached}.${randomUUID()}`;
    await writeFile(temporary, text);
    await rename(temporary, cached);
    return text;
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
};

/** The template's text. Throws `ConfigurationError` when it cannot be made. */
export const synthesisedTemplate = async (): Promise<string> => {
  const cached = join(PROJECT, 'node_modules/.cache/walkback', await hashInputs(), 'template.json');
  return readFile(cached, 'utf8').catch(() => synthesiseInto(cached));
};
