/** The part of the composition root that wires sandboxes and the adapters that work in them. */
import { createSecret } from '../adapters/aws/secret.ts';
import { createRotatingSandboxes } from '../adapters/e2b/rotating.ts';
import { readProgramBuild } from '../adapters/git/program/build.ts';
import { createSandboxProgram, type SandboxProgram } from '../adapters/git/program/call.ts';
import { createRepositories } from '../adapters/git/repositories.ts';
import { createWorkspaces } from '../adapters/git/workspace.ts';
import type { Repositories } from '../core/checkpoint/ports/repositories.ts';
import type { Sandboxes } from '../core/checkpoint/ports/sandbox.ts';
import type { Workspaces } from '../core/checkpoint/ports/workspace.ts';
import { WalkbackError } from '../core/shared/errors.ts';
import { optional, type Runtime } from './runtime.ts';
import { bundleStore, sessionStore } from './session-runtime.ts';

/** Where sandboxes are processes of this machine, the program is started where it lies. */
const sandboxProgram = ({ env }: Pick<Runtime, 'env'>): SandboxProgram =>
  createSandboxProgram(readProgramBuild(), optional(env, 'SANDBOX_ON_THIS_MACHINE') !== undefined);

export const gitRepositories = (runtime: Pick<Runtime, 'env'>): Repositories =>
  createRepositories(sandboxProgram(runtime));

export const workspaces = (runtime: Pick<Runtime, 'env'>): Workspaces =>
  createWorkspaces(sandboxProgram(runtime));

/** A key in the environment has priority over one in Secrets Manager. */
const e2bApiKey = ({ env, clock }: Runtime): (() => Promise<string>) => {
  const given = optional(env, 'E2B_API_KEY');
  if (given !== undefined) return async () => given;
  const secret = optional(env, 'E2B_API_KEY_SECRET_ARN');
  if (secret !== undefined) return createSecret(secret, { now: () => clock.now().getTime() });
  throw new WalkbackError(
    'ConfigurationError',
    'Neither E2B_API_KEY nor E2B_API_KEY_SECRET_ARN is set in the environment.',
    { details: { name: 'E2B_API_KEY' } },
  );
};

/** Reads the key at once, so that a missing one is reported before anything begins. */
export const e2bSandboxes = async (runtime: Runtime): Promise<Sandboxes> => {
  const { env } = runtime;
  const apiKey = e2bApiKey(runtime);
  const sandboxes = createRotatingSandboxes({
    apiKey,
    apiUrl: optional(env, 'E2B_API_URL'),
    sandboxUrl: optional(env, 'E2B_SANDBOX_URL'),
    domain: optional(env, 'E2B_DOMAIN'),
  });
  await apiKey();
  return sandboxes;
};

/** The ports shared by the operations that capture and restore. */
export const checkpointPorts = async (runtime: Runtime) => ({
  ...runtime,
  store: sessionStore(runtime),
  bundles: bundleStore(runtime),
  repositories: gitRepositories(runtime),
  sandboxes: await e2bSandboxes(runtime),
});
