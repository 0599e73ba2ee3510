/**
 * What of the stack an emulator of AWS cannot take, and what is adapted to it. Pure: a template in, a template
 * and the reasons out. What the emulator lacks is asked of the emulator, not listed here.
 */

interface Resource {
  Type: string;
  Properties?: Record<string, unknown>;
  DependsOn?: string | string[];
}

export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, unknown>;
}

export interface Adapted {
  template: Template;
  /** One line for each kind of thing that was left out or changed, with the count and the reason. */
  told: string[];
}

type Visit = (value: Record<string, unknown>) => unknown;

/** Every object of the value, from the inside out, replaced by what `visit` answers. */
const mapped = (value: unknown, visit: Visit): unknown => {
  if (Array.isArray(value)) return value.map((one) => mapped(one, visit));
  if (typeof value !== 'object' || value === null) return value;
  return visit(Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one, visit)])));
};

const asArray = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value];

const hasMath = ({ Type, Properties }: Resource): boolean =>
  Type === 'AWS::CloudWatch::Alarm' &&
  asArray(Properties?.['Metrics']).some(
    (metric) => typeof metric === 'object' && metric !== null && 'Expression' in metric,
  );

const isPlainHttpRefusal = (statement: unknown): boolean =>
  JSON.stringify(statement).includes('"aws:SecureTransport":"false"');

const countText = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([type, count]) => `${count} ${type}`).join(', ');

/** Leaves out what is not known to the emulator, with the references to it. */
const leaveOut = (template: Template, known: ReadonlySet<string>, told: string[]): Template => {
  const unknown = new Map<string, number>();
  const gone = new Set<string>();
  let math = 0;
  for (const [id, resource] of Object.entries(template.Resources)) {
    if (!known.has(resource.Type)) unknown.set(resource.Type, (unknown.get(resource.Type) ?? 0) + 1);
    else if (hasMath(resource)) math += 1;
    else continue;
    gone.add(id);
  }
  const count = [...unknown.values()].reduce((sum, one) => sum + one, 0);
  if (count > 0)
    told.push(`left out: ${count} resources of types the emulator does not know (${countText(unknown)})`);
  if (math > 0) told.push(`left out: ${math} alarms with metric math, which the emulator does not evaluate`);
  const isGone = (value: unknown): boolean => typeof value === 'string' && gone.has(value);
  const withoutReferences = (value: unknown): unknown =>
    mapped(value, (one) => {
      const attribute = one['Fn::GetAtt'];
      return isGone(one['Ref']) || (Array.isArray(attribute) && isGone(attribute[0])) ? 'left-out' : one;
    });
  const kept = Object.entries(template.Resources).filter(([id]) => !gone.has(id));
  return {
    ...template,
    Resources: Object.fromEntries(
      kept.map(([id, resource]) => {
        const depends = asArray(resource.DependsOn).filter((one) => !isGone(one));
        const { DependsOn: _, ...rest } = withoutReferences(resource) as Resource;
        return [id, depends.length === 0 ? rest : { ...rest, DependsOn: depends as string[] }];
      }),
    ),
    Outputs: withoutReferences(template.Outputs ?? {}) as Record<string, unknown>,
  };
};

/** Changes the statements that the emulator reads in another way than AWS. */
const adaptPolicies = (template: Template, told: string[]): Template => {
  const counts = { http: 0, success: 0, session: 0 };
  const statementOf = (statement: Record<string, unknown>): Record<string, unknown> => {
    const actions = asArray(statement['Action']);
    if (statement['Effect'] === 'Allow' && actions.includes('states:SendTaskSuccess')) {
      counts.success += 1;
      return {
        ...statement,
        Resource: [...asArray(statement['Resource']), '*'],
      };
    }
    const condition = statement['Condition'] as Record<string, Record<string, unknown>> | undefined;
    const principals = condition?.['ArnNotEquals']?.['aws:PrincipalArn'];
    if (principals === undefined) return statement;
    counts.session += 1;
    const sessions = asArray(principals).map((arn) => {
      const role = (arn as { 'Fn::GetAtt'?: [string, string] })['Fn::GetAtt']?.[0];
      return { 'Fn::Sub': `arn:\${AWS::Partition}:sts::\${AWS::AccountId}:assumed-role/\${${role ?? ''}}/*` };
    });
    return {
      ...statement,
      Condition: { ArnNotLike: { 'aws:PrincipalArn': [...asArray(principals), ...sessions] } },
    };
  };
  const adapted = mapped(template, (one) => {
    const statements = one['Statement'];
    if (!Array.isArray(statements)) return one;
    const kept = statements.filter((statement) => !isPlainHttpRefusal(statement));
    counts.http += statements.length - kept.length;
    return { ...one, Statement: kept.map((one) => statementOf(one as Record<string, unknown>)) };
  }) as Template;
  // A policy without a statement is none.
  const empty = Object.entries(adapted.Resources).filter(
    ([, { Properties }]) =>
      (Properties?.['PolicyDocument'] as { Statement?: unknown[] } | undefined)?.Statement?.length === 0,
  );
  for (const [id] of empty) delete adapted.Resources[id];
  told.push(
    `changed: ${counts.http} statements that refuse plain http are gone, because the emulator serves plain http`,
    `changed: ${counts.success} grants of states:SendTaskSuccess are for *, as the emulator demands; AWS takes the machine`,
    `changed: ${counts.session} conditions on aws:PrincipalArn also name sessions of the roles, which the emulator puts there; AWS puts the role`,
  );
  return adapted;
};

/** Gives every function the variables, as an operator would who has services elsewhere. */
const withVariables = (template: Template, variables: Readonly<Record<string, string>>): Template => ({
  ...template,
  Resources: Object.fromEntries(
    Object.entries(template.Resources).map(([id, resource]) => {
      if (resource.Type !== 'AWS::Lambda::Function') return [id, resource];
      const environment = resource.Properties?.['Environment'] as
        | { Variables?: Record<string, unknown> }
        | undefined;
      const Environment = { Variables: { ...environment?.Variables, ...variables } };
      return [id, { ...resource, Properties: { ...resource.Properties, Environment } }];
    }),
  ),
});

export const adaptTemplate = (
  template: Template,
  known: ReadonlySet<string>,
  variables: Readonly<Record<string, string>>,
): Adapted => {
  const told: string[] = [];
  const left = leaveOut(template, known, told);
  return { template: withVariables(adaptPolicies(left, told), variables), told };
};
