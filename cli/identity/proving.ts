/** Adds the proof of whoever is signed in to every request that people are responsible for. */
import { FUNCTION_ROWS } from '../../contract/functions.ts';
import type { Invoke } from '../../contract/invoke.ts';
import type { Login } from './logins.ts';

const PROVEN: ReadonlySet<string> = new Set(
  FUNCTION_ROWS.filter(({ grants }) => grants.identifiesPeople).map(({ name }) => `walkback-${name}`),
);

/** The function reads the proof, and ignores the claim beside it. */
export const proving =
  (invoke: Invoke, { token }: Login): Invoke =>
  (name, input) =>
    invoke(name, PROVEN.has(name) ? { ...input, proof: token } : input);
