import * as z from 'zod';
import { defineTool, type ToolCall } from '../../../kit/define-tool.ts';
import { ToolUncertain } from '../../../kit/outcomes.ts';
import { requestJson, requireSuccess } from './http.ts';
import type { RefundServices } from './services.ts';

const YEAR_SECONDS = 365 * 24 * 3600;

const entry = z.object({ id: z.int(), externalId: z.string() });

export const postLedgerAdjustment = ({ fetch, netsuite }: RefundServices) => {
  const urlOf = (externalId: string) =>
    `${netsuite.baseUrl}/services/rest/record/v1/journalEntry/eid:${encodeURIComponent(externalId)}`;

  const find = async (externalId: string, call: ToolCall) => {
    const answer = await requestJson(fetch, { method: 'GET', url: urlOf(externalId) }, call);
    return answer.status === 404 ? undefined : entry.parse(requireSuccess('NetSuite', answer).body);
  };

  /** Creates or updates the one record with this external id: the key is the id, so it is never forgotten. */
  const upsert = async (
    externalId: string,
    body: { memo: string; amount: number; reversalOf?: string },
    call: ToolCall,
  ) => {
    requireSuccess(
      'NetSuite',
      await requestJson(fetch, { method: 'PUT', url: urlOf(externalId), body }, call),
    );
    try {
      return await find(externalId, call);
    } catch (cause) {
      // It is booked: whatever is wrong with the reading, nobody may take it for "nothing happened".
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ToolUncertain('NotReadBack', `Booked, but not read back: ${reason}`, { cause });
    }
  };

  return defineTool({
    name: 'post_ledger_adjustment',
    version: '1.0.0',
    description: 'Posts a journal entry in NetSuite. Undone by reverse_ledger_entry: books are never erased.',
    effect: 'compensatable',
    timeoutSeconds: 30,
    retry: { maxAttempts: 3, backoffSeconds: 1 },
    idempotencyWindowSeconds: YEAR_SECONDS,
    input: z.strictObject({ memo: z.string(), amount: z.int() }),
    output: entry,
    externalRef: ({ id }) => `je-${id}`,
    execute: async ({ memo, amount }, call) => {
      const posted = await upsert(call.forwardKey, { memo, amount }, call);
      return entry.parse(posted);
    },
    compensate: {
      name: 'reverse_ledger_entry',
      execute: async ({ arguments: { memo, amount } }, call) => {
        const posted = await find(call.forwardKey, call);
        if (posted === undefined) return {};
        const reversal = { memo: `Reversal: ${memo}`, amount: -amount, reversalOf: call.forwardKey };
        await upsert(call.idempotencyKey, reversal, call);
        return { externalRef: `je-${posted.id}` };
      },
    },
    probe: async (_, call) => {
      const posted = await find(call.forwardKey, call);
      return posted === undefined ? { happened: false } : { happened: true, result: posted };
    },
  });
};
