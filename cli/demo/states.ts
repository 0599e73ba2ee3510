/** The states of all repositories of the demo at one moment, for the proof. */
import { join } from 'node:path';
import { directoryIn } from '../../client/sandbox-places.ts';
import { CliError } from '../failure.ts';
import type { LocalSandboxes } from '../sandboxes.ts';
import { type Comparison, compare, type Fingerprint, fingerprint } from './fingerprint.ts';
import { NOT_CAPTURED, PROJECTS_ROOT, REPOSITORIES } from './workspace.ts';

export type Fingerprints = Map<string, Fingerprint>;

export const projectsOf = async (sandboxes: LocalSandboxes, sandboxId: string): Promise<string> =>
  directoryIn(await sandboxes.places(sandboxId), PROJECTS_ROOT);

export const fingerprintAll = async (sandboxes: LocalSandboxes, sandboxId: string): Promise<Fingerprints> => {
  const root = await projectsOf(sandboxes, sandboxId);
  const skip = NOT_CAPTURED.map((path) => join(root, path));
  const entries = REPOSITORIES.map(
    async (name): Promise<[string, Fingerprint]> => [name, await fingerprint(join(root, name), skip)],
  );
  return new Map(await Promise.all(entries));
};

export const compareAll = (before: Fingerprints, after: Fingerprints): Comparison[] =>
  REPOSITORIES.map((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined || is === undefined)
      throw new CliError('InternalError', `No fingerprint of ${name}.`);
    return compare(name, was, is);
  });

export const stateAt = (states: Map<string, Fingerprints>, messageId: string): Fingerprints => {
  const state = states.get(messageId);
  if (state === undefined) throw new CliError('InternalError', `The demo recorded nothing at ${messageId}.`);
  return state;
};
