import * as z from 'zod';
import { defineTool } from '../../../kit/define-tool.ts';
import { requestJson, requireSuccess } from './http.ts';
import type { RefundServices } from './services.ts';

const DAY_SECONDS = 24 * 3600;

const sent = z.object({ id: z.string() });
const listed = z.object({ mails: z.array(sent) });

export const sendCustomerConfirmation = ({ fetch, shop }: RefundServices) =>
  defineTool({
    name: 'send_customer_confirmation',
    version: '1.1.0',
    description:
      'Mails the customer that the refund is on its way. A mail cannot be taken back, so it comes last.',
    effect: 'irreversible',
    timeoutSeconds: 30,
    retry: { maxAttempts: 3, backoffSeconds: 1 },
    idempotencyWindowSeconds: DAY_SECONDS,
    input: z.strictObject({ to: z.string(), refund: z.string(), ticket: z.string(), entry: z.string() }),
    output: sent,
    externalRef: ({ id }) => id,
    execute: async ({ to, refund, ticket, entry }, call) => {
      const body = {
        to,
        subject: 'Your refund',
        text: `Your refund ${refund} is on its way (ticket ${ticket}, booking ${entry}).`,
      };
      const headers = { 'idempotency-key': call.idempotencyKey };
      const url = `${shop.baseUrl}/mails`;
      return sent.parse(
        requireSuccess(
          'The mail service',
          await requestJson(fetch, { method: 'POST', url, headers, body }, call),
        ).body,
      );
    },
    probe: async (_, call) => {
      const url = `${shop.baseUrl}/mails?key=${encodeURIComponent(call.forwardKey)}`;
      const answer = requireSuccess(
        'The mail service',
        await requestJson(fetch, { method: 'GET', url }, call),
      );
      const [mail] = listed.parse(answer.body).mails;
      return mail === undefined ? { happened: false } : { happened: true, result: mail };
    },
  });
