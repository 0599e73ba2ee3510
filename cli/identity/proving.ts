/** Whoever is signed in proves it in every request that people answer for. */
import type { CallableName } from '../../contract/functions.ts';
import type { DeployedName, Invoke } from '../../contract/invoke.ts';
import type { Login } from './logins.ts';

const PROVEN: ReadonlySet<DeployedName> = new Set<DeployedName>(
  (['answer', 'operate-saga', 'rewind', 'rewind-session'] satisfies CallableName[]).map(
    (name): DeployedName => `walkback-${name}`,
  ),
);

/** The function reads the proof, and not the claim beside it. */
export const proving =
  (invoke: Invoke, { token }: Login): Invoke =>
  (name, input) =>
    invoke(name, PROVEN.has(name) ? { ...input, proof: token } : input);
