/**
 * A stand-in for NetSuite's journal entries: `PUT /services/rest/record/v1/journalEntry/eid:<external id>` creates or
 * updates the one record with this external id and answers 204 with its place; it is the way to be idempotent there,
 * as its idempotency header works for asynchronous requests only. Nothing is deleted; books are corrected by a reversal.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import { keep, type ServiceOptions } from './state.ts';

interface JournalEntry {
  id: number;
  externalId: string;
  memo: string;
  amount: number;
  reversalOf: string | null;
}

export interface NetsuiteFaults {
  /** 503 before anything is executed. */
  refuse?: (method: string, externalId: string) => boolean;
  /** 400 before anything is executed: the accounting period is closed. */
  closedPeriod?: (method: string, externalId: string) => boolean;
}

const body = z.object({ memo: z.string(), amount: z.number(), reversalOf: z.string().optional() });

const problem = (status: number, code: string, detail: string) =>
  Response.json(
    { type: 'about:blank', title: code, status, 'o:errorDetails': [{ detail, 'o:errorCode': code }] },
    { status },
  );

export const fakeNetsuite = (options: ServiceOptions & { faults?: NetsuiteFaults } = {}) => {
  const { state, save } = keep<{ entries: JournalEntry[] }>({ entries: [] }, options.file);
  const app = new Hono();
  const path = '/services/rest/record/v1/journalEntry/:eid';
  const externalIdOf = (eid: string): string => eid.replace(/^eid:/, '');

  app.put(path, async (context) => {
    const externalId = externalIdOf(context.req.param('eid'));
    if (options.faults?.refuse?.('PUT', externalId) === true)
      return problem(503, 'SERVICE_UNAVAILABLE', 'Try again later.');
    if (options.faults?.closedPeriod?.('PUT', externalId) === true) {
      return problem(400, 'PERIOD_CLOSED', 'The accounting period is closed.');
    }
    const parsed = body.safeParse(await context.req.json());
    if (!parsed.success) return problem(400, 'INVALID_CONTENT', 'The request body is not valid.');
    const { memo, amount, reversalOf } = parsed.data;
    const known = state.entries.find((entry) => entry.externalId === externalId);
    const entry = known ?? {
      id: 9000 + state.entries.length + 1,
      externalId,
      memo,
      amount,
      reversalOf: null,
    };
    Object.assign(entry, { memo, amount, reversalOf: reversalOf ?? null });
    if (known === undefined) state.entries.push(entry);
    save();
    return new Response(null, {
      status: 204,
      headers: { location: `/services/rest/record/v1/journalEntry/${entry.id}` },
    });
  });

  app.get(path, (context) => {
    const externalId = externalIdOf(context.req.param('eid'));
    const entry = state.entries.find((one) => one.externalId === externalId);
    return entry === undefined
      ? problem(404, 'NONEXISTENT_ID', 'The record does not exist.')
      : context.json(entry);
  });

  return { app, state };
};
