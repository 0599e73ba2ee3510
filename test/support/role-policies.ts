/** What each role of the stack may do. A module of its own: granted-calls.ts is run again for each test file, this one is not. */
import { createResolver } from '../../local/resolve.ts';
import { loadTemplate } from '../../local/template.ts';
import { asArray, hasFunction, type Statement, statementsOf } from './template.ts';

/** Services that functions call themselves; logs, traces and queues are for Lambda to use. */
const CALLED = /^(?:dynamodb|s3|states|events|kms|lambda|secretsmanager):/;

/** No secret here has the six characters that the service adds to its ARN. */
const ofSecret = (arn: string): string => arn.replace(/(:secret:.*)-\?{6}$/, '$1');

export interface RolePolicies {
  /** Undefined of one that is not in the stack. */
  of(functionName: string): readonly Statement[] | undefined;
}

const load = async (): Promise<RolePolicies> => {
  const template = await loadTemplate();
  const resolver = createResolver(template);
  const known = new Map<string, readonly Statement[] | undefined>();
  const read = (functionName: string) =>
    hasFunction(template, functionName)
      ? statementsOf(template, functionName)
          .filter(({ Action }) => asArray(Action).some((action) => CALLED.test(action)))
          .map((one) => ({
            ...one,
            Resource: asArray(one.Resource).map((resource) => ofSecret(String(resolver.value(resource)))),
          }))
      : undefined;
  return {
    of: (functionName) => {
      if (!known.has(functionName)) known.set(functionName, read(functionName));
      return known.get(functionName);
    },
  };
};

let loading: Promise<RolePolicies> | undefined;

export const rolePolicies = (): Promise<RolePolicies> => (loading ??= load());
