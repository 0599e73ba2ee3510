/**
 * Calls a function for a person who is signed in. It owns two rules: nobody calls anything without a token
 * that was verified here, and the token must hold a role that the function's row names. A function that acts
 * for a person verifies the token once more itself, so the token goes along as `proof`. Who asks is never
 * taken from the request.
 */

import type { FunctionRow } from '../../contract/function-row.ts';
import { type CallableName, FUNCTIONS } from '../../contract/functions.ts';
import type { VerifiedActor } from '../../contract/identity.ts';
import { isPeopleFunction, rolesFor } from '../../contract/people.ts';
import { createIdentify, type IdentityVerifier } from '../saga/people/identify.ts';
import { WalkbackError } from '../shared/errors.ts';

/** An answer as its row promises it. It comes from our own function, so its shape is not checked again. */
type Answered = ReturnType<JSON['parse']>;

/**
 * Invokes a function once, by the name of its row. Throws the function's error by its literal name, or
 * `StillRunning` when it takes too long.
 */
export interface FunctionCalls {
  call(name: CallableName, input: Readonly<Record<string, unknown>>): Promise<Answered>;
}

interface Deps {
  verifier: IdentityVerifier;
  calls: FunctionCalls;
}

export interface PersonCalls {
  /** Who holds the token. Throws `ProofInvalid`. */
  identify(proof: string): Promise<VerifiedActor>;
  /** Throws `ProofInvalid`, `RoleMissing`, and whatever the function throws. */
  call(proof: string, name: CallableName, input: Readonly<Record<string, unknown>>): Promise<Answered>;
}

const takesProof = (name: CallableName): boolean => {
  const { grants }: FunctionRow = FUNCTIONS[name];
  return grants.identifiesPeople === true;
};

const requirePeopleFunction = (name: string): void => {
  if (isPeopleFunction(name)) return;
  const called: string = name;
  throw new WalkbackError('RoleMissing', `${called} is called by backends only: no role of a person has it.`);
};

export const createPersonCalls = ({ verifier, calls }: Deps): PersonCalls => ({
  identify: async (proof) => {
    const { person } = await verifier.verify(proof);
    return { name: person.email ?? person.sub, person };
  },
  call: async (proof, name, { by: _by, proof: _proof, ...input }) => {
    requirePeopleFunction(name);
    await createIdentify({ verifier, requireVerifiedApprover: true }, rolesFor(name))({ proof });
    return calls.call(name, takesProof(name) ? { ...input, proof } : input);
  },
});
