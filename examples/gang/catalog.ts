/** The templates of the gang: one return, done by one agent, and the saga that delegates three of them. */
import type { SagaDefinition } from '../../core/saga/model/plan.ts';
import type { JsonSchema } from '../../core/saga/model/tool.ts';
import { refundDefinitions } from '../refund/catalog.ts';

export const AGENTS = ['mug', 'lamp', 'chair'] as const;
export type Agent = (typeof AGENTS)[number];

const HOUR_SECONDS = 3600;
const REVIEW_BY = '2027-12-31';

const one: JsonSchema = {
  type: 'object',
  properties: { agent: { type: 'string', minLength: 1 }, orderId: { type: 'string', minLength: 1 } },
  required: ['agent', 'orderId'],
  additionalProperties: false,
};

/** Payment, ticket and books as in the refund saga, whose mail is sent once for all, by the parent. */
const refundSteps = refundDefinitions
  .filter(({ name }) => name === 'refund')
  .flatMap(({ plan }) => plan.steps.filter(({ id }) => id !== 'confirm'))
  .map((step) =>
    step.id === 'ticket' && 'arguments' in step
      ? { ...step, arguments: { ...step.arguments, body: "{% 'Refund ' & steps.refund.externalRef %}" } }
      : step,
  );

const [verify, ...effects] = refundSteps;

const child: SagaDefinition = {
  name: 'gang-return',
  version: '1',
  description: 'One agent takes back one order: the work at its desk, then payment, ticket and books.',
  reviewBy: REVIEW_BY,
  input: one,
  plan: {
    steps: [
      ...(verify === undefined ? [] : [verify]),
      {
        id: 'desk',
        tool: 'prepare_return',
        arguments: {
          agent: '{% input.agent %}',
          customer: '{% steps.verify.result.customerEmail %}',
          orderId: '{% input.orderId %}',
        },
      },
      ...effects,
    ],
    output: { refund: '{% steps.refund.externalRef %}' },
  },
};

const summary = AGENTS.map((agent) => `'${agent} ' & steps.agents.result.${agent}.status`).join(" & ', ' & ");

const parent: SagaDefinition = {
  name: 'gang',
  version: '1',
  description: 'Three returns, each delegated to an agent; a report; and a mail that a person approves.',
  reviewBy: REVIEW_BY,
  input: {
    type: 'object',
    properties: { to: { type: 'string', minLength: 1 } },
    required: ['to'],
    additionalProperties: false,
  },
  plan: {
    steps: [
      {
        id: 'case',
        tool: 'create_support_ticket',
        arguments: { subject: 'Three returns', body: 'Each is done by an agent.' },
      },
      {
        id: 'agents',
        branches: AGENTS.map((agent) => ({
          id: agent,
          definition: child.name,
          input: { agent, orderId: `order-${agent}` },
        })),
        onBranchFailure: 'sharing',
      },
      {
        id: 'report',
        tool: 'create_support_ticket',
        arguments: { subject: 'Report of the returns', body: `{% ${summary} %}` },
      },
      {
        id: 'confirm',
        tool: 'send_customer_confirmation',
        arguments: {
          to: '{% input.to %}',
          refund: `{% ${summary} %}`,
          ticket: '{% steps.report.externalRef %}',
          entry: '{% steps.case.externalRef %}',
        },
        approval: { timeoutSeconds: HOUR_SECONDS, prompt: 'Are all of them done?' },
      },
    ],
  },
};

export const gangDefinitions: SagaDefinition[] = [child, parent];
