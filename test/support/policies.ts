/** Decides as IAM does whether the managed policy of a role lets it do something, from the synthesised template. */
import type { PersonRole } from '../../contract/people.ts';
import { createResolver } from '../../local/resolve.ts';
import type { Template } from '../../local/template.ts';
import { asArray, managedPolicy } from './template.ts';

/** `*` and `?`, as in policies. */
export const matches = (pattern: string, text: string): boolean => {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'i').test(text);
};

export interface Decider {
  allows(action: string, resource: string): boolean;
  /** What it names, to see that nothing else is in it. */
  actions: readonly string[];
  resources(action: string): readonly string[];
}

/** An explicit denial counts first, then what is allowed; anything else is denied. Conditions are met. */
export const policyOf = (template: Template, logicalIdPart: string): Decider => {
  const resolver = createResolver(template);
  const statements = managedPolicy(template, logicalIdPart).map(({ Effect, Action, Resource }) => ({
    effect: Effect,
    actions: asArray(Action),
    resources: asArray(Resource).map((one) => String(resolver.value(one))),
  }));
  const meets = (effect: string, action: string, resource: string): boolean =>
    statements.some(
      (one) =>
        one.effect === effect &&
        one.actions.some((pattern) => matches(pattern, action)) &&
        one.resources.some((pattern) => matches(pattern, resource)),
    );
  return {
    allows: (action, resource) => !meets('Deny', action, resource) && meets('Allow', action, resource),
    actions: [...new Set(statements.flatMap(({ actions }) => actions))],
    resources: (action) =>
      statements.flatMap(({ actions, resources }) => (actions.includes(action) ? resources : [])),
  };
};

const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:walkback-';

/** The managed policy of each role of people. */
export const POLICIES: Record<PersonRole, string> = {
  reviewer: 'AccessReviewer',
  operator: 'AccessOperator',
  finance: 'AccessFinance',
};

export const mayInvoke = (template: Template, role: PersonRole, name: string): boolean =>
  policyOf(template, POLICIES[role]).allows('lambda:InvokeFunction', `${FUNCTION_ARN}${name}`);

/** The functions that the policy of a role names, without prefix. */
export const invokedBy = (template: Template, role: PersonRole): string[] =>
  policyOf(template, POLICIES[role])
    .resources('lambda:InvokeFunction')
    .map((arn) => arn.replace(/^.*:function:walkback-/, ''));
