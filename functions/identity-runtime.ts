/** The part of the composition root that finds out who asks. */
import type { CallableName } from '../contract/functions.ts';
import type { Asked, MaybeAsked } from '../contract/identity.ts';
import { rolesFor } from '../contract/people.ts';
import {
  createIdentify,
  createIdentifyIfPerson,
  type IdentityPolicy,
  type IdentityVerifier,
} from '../core/saga/people/identify.ts';
import type { UseCase } from './handler.ts';
import { isOn, optional, type Runtime, required } from './runtime.ts';

/** Undefined when no issuer is configured. Loaded with the first proof, because most calls have none. */
export const identityVerifier = ({ env }: Runtime): IdentityVerifier | undefined => {
  const issuer = optional(env, 'WALKBACK_OIDC_ISSUER');
  if (issuer === undefined) return undefined;
  const configuration = optional(env, 'WALKBACK_OIDC_CONFIGURATION');
  const options = {
    issuer,
    audience: required(env, 'WALKBACK_OIDC_AUDIENCE'),
    scope: required(env, 'WALKBACK_OIDC_SCOPE'),
    groupPrefix: required(env, 'WALKBACK_OIDC_GROUP_PREFIX'),
    ...(configuration === undefined ? {} : { configuration }),
  };
  let loading: Promise<IdentityVerifier> | undefined;
  const load = async () => (await import('../adapters/oidc/verifier.ts')).createOidcVerifier(options);
  return { verify: async (proof) => (await (loading ??= load())).verify(proof) };
};

interface Request {
  by?: string | undefined;
  proof?: string | undefined;
}

const policyOf = (runtime: Runtime): IdentityPolicy => {
  const verifier = identityVerifier(runtime);
  return {
    ...(verifier === undefined ? {} : { verifier }),
    requireVerifiedApprover: isOn(runtime.env, 'WALKBACK_REQUIRE_VERIFIED_APPROVER'),
  };
};

/** A use case that is given who asks, with a check that this person may call the function. */
export const identified = <Input extends Request, Output>(
  runtime: Runtime,
  name: CallableName,
  work: UseCase<Asked<Input>, Output>,
): UseCase<Input, Output> => {
  const identify = createIdentify(policyOf(runtime), rolesFor(name));
  return async (input, invocation) => work(await identify(input), invocation);
};

/** The same for functions that backends, which name nobody, call too. */
export const identifiedIfPerson = <Input extends Request, Output>(
  runtime: Runtime,
  name: CallableName,
  work: UseCase<MaybeAsked<Input>, Output>,
): UseCase<Input, Output> => {
  const identify = createIdentifyIfPerson(policyOf(runtime), rolesFor(name));
  return async (input, invocation) => work(await identify(input), invocation);
};
