import * as z from 'zod';
import { defineTool } from '../../../kit/define-tool.ts';
import { ToolRejected } from '../../../kit/outcomes.ts';
import { requestJson, requireSuccess } from './http.ts';
import type { RefundServices } from './services.ts';

const order = z.object({
  id: z.string(),
  paymentIntent: z.string(),
  amount: z.int(),
  customerEmail: z.string(),
  eligible: z.boolean(),
});

export const verifyReturnEligibility = ({ fetch, shop }: RefundServices) =>
  defineTool({
    name: 'verify_return_eligibility',
    version: '1.0.0',
    description: 'Looks up an order and whether it may be returned. Changes nothing.',
    effect: 'read',
    timeoutSeconds: 10,
    input: z.strictObject({ orderId: z.string().min(1) }),
    output: order,
    execute: async ({ orderId }, call) => {
      const url = `${shop.baseUrl}/orders/${encodeURIComponent(orderId)}/return`;
      const answer = requireSuccess('The shop', await requestJson(fetch, { method: 'GET', url }, call));
      const found = order.parse(answer.body);
      if (!found.eligible)
        throw new ToolRejected('NotEligible', `Order ${orderId} is past its return period.`);
      return found;
    },
  });
