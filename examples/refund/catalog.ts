/** The refund saga: its tools, and its templates. */
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';
import type { JsonSchema } from '../../core/saga/model/tool.ts';
import type { Tool } from '../../kit/define-tool.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { createSupportTicket } from './tools/create-support-ticket.ts';
import { issueRefund } from './tools/issue-refund.ts';
import { postLedgerAdjustment } from './tools/post-ledger-adjustment.ts';
import { sendCustomerConfirmation } from './tools/send-customer-confirmation.ts';
import type { RefundServices } from './tools/services.ts';
import { verifyReturnEligibility } from './tools/verify-return-eligibility.ts';

export const refundTools = (services: RefundServices): Tool[] => [
  verifyReturnEligibility(services),
  issueRefund(services),
  createSupportTicket(services),
  postLedgerAdjustment(services),
  sendCustomerConfirmation(services),
];

/** Those of the catalog, and the versions that sagas of before have pinned. */
export const servedRefundTools = (services: RefundServices): Tool[] => [
  ...refundTools(services),
  issueRefund(services, '1.0.0'),
];

export const refundManifests = (services: RefundServices, functionName: string) =>
  refundTools(services).map((tool) => manifestOf(tool, functionName));

const input: JsonSchema = {
  type: 'object',
  properties: { orderId: { type: 'string', minLength: 1 }, reason: { type: 'string' } },
  required: ['orderId'],
  additionalProperties: false,
};

const plan: Plan = {
  steps: [
    { id: 'verify', tool: 'verify_return_eligibility', arguments: { orderId: '{% input.orderId %}' } },
    {
      id: 'refund',
      tool: 'issue_refund',
      arguments: {
        paymentIntent: '{% steps.verify.result.paymentIntent %}',
        amount: '{% steps.verify.result.amount %}',
      },
    },
    {
      id: 'ticket',
      tool: 'create_support_ticket',
      arguments: {
        subject: "{% 'Return of order ' & input.orderId %}",
        body: "{% 'Refund ' & steps.refund.externalRef & '. ' & (input.reason ? input.reason : 'No reason given.') %}",
      },
    },
    {
      id: 'booking',
      tool: 'post_ledger_adjustment',
      arguments: {
        memo: "{% 'Refund ' & steps.refund.externalRef & ', order ' & input.orderId %}",
        amount: '{% -steps.refund.result.amount %}',
      },
    },
    {
      id: 'confirm',
      tool: 'send_customer_confirmation',
      arguments: {
        to: '{% steps.verify.result.customerEmail %}',
        refund: '{% steps.refund.externalRef %}',
        ticket: '{% steps.ticket.externalRef %}',
        entry: '{% steps.booking.externalRef %}',
      },
    },
  ],
};

const HOUR_SECONDS = 3600;

/** `refund` runs through; `refund-approved` asks a person before money moves. */
export const refundDefinitions: SagaDefinition[] = [
  {
    name: 'refund',
    version: '1',
    description: 'Refund a returned order: payment, ticket, books, and a mail to the customer last.',
    reviewBy: '2027-12-31',
    input,
    plan,
  },
  {
    name: 'refund-approved',
    version: '1',
    description: 'The refund saga with an approval before the payment.',
    reviewBy: '2027-12-31',
    input,
    plan: {
      steps: plan.steps.map((step) =>
        step.id === 'refund'
          ? { ...step, approval: { timeoutSeconds: HOUR_SECONDS, prompt: 'Refund this order?' } }
          : step,
      ),
    },
  },
];
