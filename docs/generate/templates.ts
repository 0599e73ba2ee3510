/** The templates that come with Walkback, for docs/templates.md: what each takes and which steps it has. Pure. */
import type { PlanStep, SagaDefinition } from '../../core/saga/model/plan.ts';
import { code, table } from './markdown.ts';

interface Property {
  description?: string;
  type?: string;
  anyOf?: { type?: string }[];
}

const typeOf = ({ type, anyOf }: Property): string =>
  type ?? (anyOf ?? []).map((one) => one.type ?? 'any').join(' or ');

const inputRows = ({ input }: SagaDefinition): string[][] => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made from zod by defineTemplate
  const { properties = {}, required = [] } = input as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => [
    code(name),
    typeOf(property),
    required.includes(name) ? 'yes' : '',
    property.description ?? '',
  ]);
};

const doneBy = (step: PlanStep): string => {
  if ('tool' in step) return code(step.tool);
  if ('interactive' in step) return 'an agent, which submits its steps and closes it';
  const source = 'saga' in step ? step.saga : step;
  const many = 'each' in step ? 'for each: ' : '';
  const named = 'definition' in source ? source.definition : undefined;
  return named === undefined ? `${many}the steps below` : `${many}${code(named)}`;
};

const stepRows = (steps: readonly PlanStep[], path: string): string[][] =>
  steps.flatMap((step) => {
    const name = `${path}${step.id}`;
    const asked = step.approval === undefined ? '' : ', when a person approved it';
    const source = 'saga' in step ? step.saga : step;
    const below = 'plan' in source ? (source.plan?.steps ?? []) : [];
    return [[code(name), `${doneBy(step)}${asked}`], ...stepRows(below, `${name}/`)];
  });

/** The members of an expression by itself are known when it runs. */
const outputOf = ({ plan: { output } }: SagaDefinition): string =>
  typeof output === 'string'
    ? `Its output is what this answers: ${code(output)}.`
    : `Its output: ${Object.keys(output ?? {})
        .map(code)
        .join(', ')}.`;

const section = (template: SagaDefinition): string =>
  [
    `### ${template.name}`,
    `${template.description} Version ${template.version}; to be reviewed by ${template.reviewBy}.`,
    table(['input', 'type', 'required', 'meaning'], inputRows(template)),
    table(['step', 'done by'], stepRows(template.plan.steps, '')),
    outputOf(template),
  ].join('\n\n');

export const templateReference = (templates: readonly SagaDefinition[]): string =>
  templates.map(section).join('\n\n');
