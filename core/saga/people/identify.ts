/**
 * Finds out who asks, before anything is done for them. Roles and times are checked here, wherever the
 * request comes from.
 */

import type { Actor, Asked, MaybeAsked, Person, Role, VerifiedActor } from '../../../contract/identity.ts';
import { ENGINE } from '../../../contract/identity.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';

/** A person may have signed in at most this long ago to allow what nothing takes back. */
export const FRESH_SECONDS = 15 * 60;

/** What a verified token says. */
export interface Proven {
  person: Person;
  roles: readonly Role[];
}

/** Verifies tokens: issuer, audience, scope, signature and times. Throws `ProofInvalid`, or `IdentityUnavailable`. */
export interface IdentityVerifier {
  verify(proof: string): Promise<Proven>;
}

export interface IdentityPolicy {
  /** Absent: nobody can be verified here. */
  verifier?: IdentityVerifier;
  /** Claims are refused. */
  requireVerifiedApprover: boolean;
}

interface Request {
  by?: string | undefined;
  proof?: string | undefined;
}

const requireRole = ({ person, roles }: Proven, allowed: readonly Role[]): void => {
  if (roles.some((role) => allowed.includes(role))) return;
  const has = roles.length === 0 ? 'no role' : `the role ${roles.join(', ')}`;
  throw new WalkbackError(
    'RoleMissing',
    `${person.email ?? person.sub} has ${has} here; this needs ${allowed.join(' or ')}.`,
  );
};

/** The name `engine` in the ledger belongs to no person, whatever an issuer calls somebody. */
const nameOfPerson = ({ email, sub }: Person): string => {
  const name = email ?? sub;
  if (name.trim() !== ENGINE) return name;
  throw new WalkbackError(
    'ProofInvalid',
    `proof: the issuer calls this person "${ENGINE}", which is no name for a person here.`,
  );
};

const verified = async (
  { verifier }: IdentityPolicy,
  proof: string,
  allowed: readonly Role[],
): Promise<VerifiedActor> => {
  if (verifier === undefined) {
    throw new WalkbackError(
      'ConfigurationError',
      'proof: no issuer of tokens is configured here (WALKBACK_OIDC_ISSUER), so nothing can be verified.',
    );
  }
  const proven = await verifier.verify(proof);
  requireRole(proven, allowed);
  const { person } = proven;
  return { name: nameOfPerson(person), person };
};

const claimed = ({ requireVerifiedApprover }: IdentityPolicy, by: string | undefined): string => {
  if (requireVerifiedApprover) {
    throw new WalkbackError('ProofRequired', 'Here only people who are signed in may do this: give a proof.');
  }
  // The schema refuses a request without both.
  if (by === undefined) throw new WalkbackError('InvalidInput', 'by: say who asks, or give a proof.');
  return by;
};

/**
 * Replaces the claim and proof of a request by who asks. When there is a proof, it is verified and the claim
 * is ignored. Throws `ProofRequired`, `ProofInvalid`, `RoleMissing`.
 */
export const createIdentify =
  (policy: IdentityPolicy, allowed: readonly Role[]) =>
  async <Input extends Request>({ by, proof, ...rest }: Input): Promise<Asked<Input>> => {
    const actor = proof === undefined ? claimed(policy, by) : await verified(policy, proof, allowed);
    return { ...rest, by: actor };
  };

/**
 * For functions that backends call too. A backend names nobody; its permission to call is enough. A person
 * who is named is checked as above.
 */
export const createIdentifyIfPerson = (policy: IdentityPolicy, allowed: readonly Role[]) => {
  const identify = createIdentify(policy, allowed);
  return async <Input extends Request>(input: Input): Promise<MaybeAsked<Input>> => {
    if (input.by !== undefined || input.proof !== undefined) return identify(input);
    const { by: _by, proof: _proof, ...rest } = input;
    return rest;
  };
};

/** For what nothing takes back. A claim has no time, so a stack that accepts claims accepts them here too. */
export const requireFresh = (by: Actor, clock: Clock): void => {
  if (typeof by === 'string') return;
  const { authTime } = by.person;
  const age = authTime === undefined ? Infinity : (clock.now().getTime() - Date.parse(authTime)) / 1000;
  if (age <= FRESH_SECONDS) return;
  const since = authTime === undefined ? 'their token does not say when' : `that was at ${authTime}`;
  throw new WalkbackError(
    'ProofTooOld',
    `Nothing takes this back, so ${by.name} must have signed in during the last ${FRESH_SECONDS / 60} minutes; ${since}.`,
  );
};

/**
 * Four eyes: whoever asked for a saga, or gave it this step, cannot approve it. Only verified people can be
 * told apart.
 */
export const requireOther = (by: Actor, names: readonly (string | undefined)[]): void => {
  if (typeof by === 'string') return;
  const { sub, email } = by.person;
  const asked = names.map((name) => name?.trim().toLowerCase());
  const same = [sub, email].some((name) => name !== undefined && asked.includes(name.toLowerCase()));
  if (!same) return;
  throw new WalkbackError('SamePerson', `${by.name} asked for this step; another person has to approve.`);
};
