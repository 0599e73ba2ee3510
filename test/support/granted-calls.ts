/**
 * Refuses what a function may not do when it is deployed. The embedded cloud gives all functions one key, so it is the tests
 * that hold each function to the policies of its role, in every scenario.
 */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { matches } from './policies.ts';
import { type NeededPermission, watchCalls } from './recorded-calls.ts';
import { type RolePolicies, rolePolicies } from './role-policies.ts';
import { asArray, type Statement } from './template.ts';

class AccessDenied extends Error {
  override readonly name = 'AccessDeniedException';
  readonly $metadata = { httpStatusCode: 400 };
}

/** The only condition in the stack that is about what is asked, and not about who asks. */
const meetsCondition = ({ Condition }: Statement, { leadingKey }: NeededPermission): boolean =>
  Object.values(Condition ?? {}).every((keys) =>
    Object.entries(keys as Record<string, string | string[]>).every(
      ([key, patterns]) =>
        key === 'dynamodb:LeadingKeys' &&
        typeof leadingKey === 'string' &&
        asArray(patterns).some((pattern) => matches(pattern, leadingKey)),
    ),
  );

const allows = (statement: Statement, needed: NeededPermission): boolean => {
  const { action, resource } = needed;
  return (
    statement.Effect === 'Allow' &&
    asArray(statement.Action).some((pattern) => matches(pattern, action)) &&
    asArray(statement.Resource).some(
      (pattern) => resource === undefined || matches(String(pattern), resource),
    ) &&
    meetsCondition(statement, needed)
  );
};

/** Tools that are not in the stack are named to it by whoever deploys it (`addTool`, `toolFunctions`). */
const isForeignTool = (policies: RolePolicies, { action, resource = '' }: NeededPermission): boolean =>
  action.startsWith('lambda:') && policies.of(resource.split(':')[6] ?? '') === undefined;

const denied = new Set<string>();
let watching: Disposable;

beforeAll(() => {
  watching = watchCalls(async (functionName, needed) => {
    const policies = await rolePolicies();
    const statements = policies.of(functionName);
    const isAllowed = (one: NeededPermission): boolean =>
      statements === undefined ||
      isForeignTool(policies, one) ||
      statements.some((statement) => allows(statement, one));
    const refused = needed.find((one) => !isAllowed(one));
    if (refused === undefined) return;
    const partition = typeof refused.leadingKey === 'string' ? ` ${refused.leadingKey}` : '';
    const message = `${functionName} may not ${refused.action} ${refused.resource}${partition}`;
    denied.add(message);
    throw new AccessDenied(message);
  });
});
// Also where a function takes the refusal for something else.
afterEach(() => {
  const messages = [...denied];
  denied.clear();
  expect(messages, 'calls that a role does not allow').toEqual([]);
});
afterAll(() => watching[Symbol.dispose]());
