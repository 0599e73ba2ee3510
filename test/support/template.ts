/** Questions that tests of the infrastructure ask of a synthesised template. */
import type { Resource, Template } from '../../local/template.ts';

export interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, unknown>;
}

export const asArray = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

export const entriesOf = (template: Template, type: string): [string, Resource][] =>
  Object.entries(template.Resources).filter(([, resource]) => resource.Type === type);

/** Keys that encrypt; the one that signs digests of the ledger stores nothing. */
export const encryptionKeysOf = (template: Template): [string, Resource][] =>
  entriesOf(template, 'AWS::KMS::Key').filter(
    ([, { Properties }]) => Properties['KeyUsage'] !== 'SIGN_VERIFY',
  );

const functionEntry = (template: Template, functionName: string) =>
  entriesOf(template, 'AWS::Lambda::Function').find(
    ([, resource]) => resource.Properties['FunctionName'] === functionName,
  );

export const hasFunction = (template: Template, functionName: string): boolean =>
  functionEntry(template, functionName) !== undefined;

export const logicalIdOf = (template: Template, functionName: string): string => {
  const found = functionEntry(template, functionName);
  if (found === undefined) throw new Error(`no function ${functionName}`);
  return found[0];
};

const statementsIn = (policy: Resource): Statement[] =>
  (policy.Properties['PolicyDocument'] as { Statement: Statement[] }).Statement;

/** Everything the policies of a role (`Role` property of a function or machine) allow. */
const statementsOfRole = (template: Template, role: unknown): Statement[] => {
  const text = JSON.stringify(role);
  return entriesOf(template, 'AWS::IAM::Policy')
    .filter(([, policy]) =>
      (policy.Properties['Roles'] as { Ref: string }[]).some(({ Ref }) => text.includes(`"${Ref}"`)),
    )
    .flatMap(([, policy]) => statementsIn(policy));
};

export const statementsOf = (template: Template, functionName: string): Statement[] =>
  statementsOfRole(
    template,
    template.Resources[logicalIdOf(template, functionName)]?.Properties['Role'] ?? functionName,
  );

export const machineStatements = (template: Template): Statement[] =>
  entriesOf(template, 'AWS::StepFunctions::StateMachine').flatMap(([, machine]) =>
    statementsOfRole(template, machine.Properties['RoleArn']),
  );

export const managedPolicy = (template: Template, logicalIdPart: string): Statement[] => {
  const found = entriesOf(template, 'AWS::IAM::ManagedPolicy').find(([id]) => id.includes(logicalIdPart));
  if (found === undefined) throw new Error(`no managed policy ${logicalIdPart}`);
  return statementsIn(found[1]);
};

/** Every statement that any identity policy of the stack makes. */
export const allStatements = (template: Template): Statement[] =>
  ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'].flatMap((type) =>
    entriesOf(template, type).flatMap(([, policy]) => statementsIn(policy)),
  );
