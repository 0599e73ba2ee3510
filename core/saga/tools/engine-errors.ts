/**
 * Names under which Step Functions reports that Lambda did not run a function, so that certainly nothing
 * happened.
 *
 * Errors with the prefix `Lambda.` come from the service; an error of the tool itself has the name that its
 * code gave it. Any other name leaves the outcome open (S2). `Lambda.AWSLambdaException` stands for any error
 * without a name. With `Lambda.ServiceException` and `Lambda.SdkClientException`, an answer may have been
 * lost.
 */
import type { ErrorName } from '../../../contract/errors.ts';
import type { Outcome } from '../decide/saga-events.ts';

/** Lambda has no capacity now. The same call may succeed later. */
const THROTTLED = [
  'Lambda.TooManyRequestsException',
  'Lambda.EC2ThrottledException',
  'Lambda.ENILimitReachedException',
  'Lambda.SubnetIPAddressLimitReachedException',
  'Lambda.ResourceNotReadyException',
  'Lambda.ResourceConflictException',
  'Lambda.SnapStartNotReadyException',
];

/** There is no function to run, or it cannot start until someone repairs it. */
const NOT_THERE = [
  'Lambda.ResourceNotFoundException',
  'Lambda.EC2AccessDeniedException',
  'Lambda.InvalidSecurityGroupIDException',
  'Lambda.InvalidSubnetIDException',
  'Lambda.InvalidZipFileException',
  'Lambda.KMSAccessDeniedException',
  'Lambda.KMSDisabledException',
  'Lambda.KMSInvalidStateException',
  'Lambda.KMSNotFoundException',
];

/** The meaning of Lambda's refusal for the call. Undefined when the function may have run. */
export const refusalOf = (name: string): { retryable: boolean } | undefined => {
  if (THROTTLED.includes(name)) return { retryable: true };
  return NOT_THERE.includes(name) ? { retryable: false } : undefined;
};

const NOT_SERVED: readonly string[] = ['ToolUnavailable' satisfies ErrorName, ...NOT_THERE];

/** Nobody served the call: there is no function or endpoint, or none that serves this version of the tool. */
export const isNotServed = (outcome: Outcome): boolean =>
  outcome.outcome === 'rejected' && NOT_SERVED.includes(outcome.error.name);
