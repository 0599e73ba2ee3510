import * as z from 'zod';
import { defineTool, type ToolCall } from '../../../kit/define-tool.ts';
import { requestJson, requireSuccess } from './http.ts';
import type { RefundServices } from './services.ts';

const ticket = z.object({ id: z.int(), status: z.string() });
const found = z.object({ tickets: z.array(ticket) });
const created = z.object({ ticket });

export const createSupportTicket = ({ fetch, zendesk }: RefundServices) => {
  /** Tickets carry the key as external id: Zendesk forgets its own key after two hours, and PUT never takes one. */
  const findByKey = async (call: ToolCall) => {
    const url = `${zendesk.baseUrl}/api/v2/tickets?external_id=${encodeURIComponent(call.forwardKey)}`;
    const answer = requireSuccess('Zendesk', await requestJson(fetch, { method: 'GET', url }, call));
    return found.parse(answer.body).tickets[0];
  };

  return defineTool({
    name: 'create_support_ticket',
    version: '1.1.0',
    description: 'Opens a Zendesk ticket about the return. Undone by close_draft_ticket.',
    effect: 'compensatable',
    timeoutSeconds: 30,
    retry: { maxAttempts: 4, backoffSeconds: 1 },
    idempotencyWindowSeconds: 2 * 3600,
    input: z.strictObject({ subject: z.string().min(1), body: z.string().min(1) }),
    output: ticket,
    externalRef: ({ id }) => `zendesk-${id}`,
    execute: async ({ subject, body }, call) => {
      const answer = await requestJson(
        fetch,
        {
          method: 'POST',
          url: `${zendesk.baseUrl}/api/v2/tickets`,
          headers: { 'idempotency-key': call.idempotencyKey },
          body: { ticket: { subject, external_id: call.forwardKey, comment: { body } } },
        },
        call,
      );
      return created.parse(requireSuccess('Zendesk', answer).body).ticket;
    },
    compensate: {
      name: 'close_draft_ticket',
      execute: async (_, call) => {
        const open = await findByKey(call);
        if (open === undefined) return {};
        const externalRef = `zendesk-${open.id}`;
        if (open.status === 'closed') return { externalRef };
        const change = {
          ticket: { status: 'closed', comment: { body: 'Closed: the return was not carried out.' } },
        };
        const url = `${zendesk.baseUrl}/api/v2/tickets/${open.id}`;
        const answer = await requestJson(fetch, { method: 'PUT', url, body: change }, call);
        // This call may be delivered twice at once: what the other one closed cannot be changed.
        if (answer.status === 422 && (await findByKey(call))?.status === 'closed') return { externalRef };
        requireSuccess('Zendesk', answer);
        return { externalRef };
      },
    },
    probe: async (_, call) => {
      const seen = await findByKey(call);
      return seen === undefined ? { happened: false } : { happened: true, result: seen };
    },
  });
};
