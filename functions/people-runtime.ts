/** The part of the composition root that calls functions for people who are signed in. */
import { createFunctionCalls } from '../adapters/aws/function-calls.ts';
import { API_PATIENCE_SECONDS } from '../contract/http-api.ts';
import { createPersonCalls, type PersonCalls } from '../core/people/call-as.ts';
import { WalkbackError } from '../core/shared/errors.ts';
import { identityVerifier } from './identity-runtime.ts';
import { type Runtime, required } from './runtime.ts';

export const personCalls = (runtime: Runtime): PersonCalls => {
  const verifier = identityVerifier(runtime);
  if (verifier === undefined) {
    throw new WalkbackError(
      'ConfigurationError',
      'No issuer of tokens is configured (WALKBACK_OIDC_ISSUER).',
    );
  }
  const namePrefix = required(runtime.env, 'WALKBACK_NAME_PREFIX');
  return createPersonCalls({
    verifier,
    calls: createFunctionCalls({ namePrefix, patienceMs: API_PATIENCE_SECONDS * 1000 }),
  });
};
