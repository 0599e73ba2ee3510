/**
 * A stand-in for Zendesk's tickets that keeps what developer.zendesk.com says: `Idempotency-Key` on POST /tickets only, for
 * two hours, other content under it is 400, a repetition is marked `x-idempotency-lookup: hit`; PUT takes no key; a closed
 * ticket cannot be changed; 429 with `retry-after` and 503 happen.
 */
import { Hono } from 'hono';
import * as z from 'zod';
import { keep, type ServiceOptions } from './state.ts';

interface Ticket {
  id: number;
  external_id: string | null;
  subject: string;
  status: 'new' | 'open' | 'solved' | 'closed';
  comments: string[];
}

interface State {
  tickets: Ticket[];
  keys: Record<string, { fingerprint: string; ticket: number; atMs: number }>;
}

export interface ZendeskFaults {
  /** Refused before anything is executed. */
  refuse?: (method: string, path: string) => 429 | 503 | undefined;
}

const KEY_LIFETIME_MS = 2 * 3600_000;

const creation = z.object({
  ticket: z.object({
    subject: z.string(),
    external_id: z.string().nullish(),
    comment: z.object({ body: z.string() }),
  }),
});
const change = z.object({
  ticket: z.object({
    status: z.enum(['new', 'open', 'solved', 'closed']).optional(),
    comment: z.object({ body: z.string() }).optional(),
  }),
});

export const fakeZendesk = (options: ServiceOptions & { faults?: ZendeskFaults } = {}) => {
  const now = options.now ?? Date.now;
  const { state, save } = keep<State>({ tickets: [], keys: {} }, options.file);
  const app = new Hono();

  app.use(async (context, next) => {
    const status = options.faults?.refuse?.(context.req.method, context.req.path);
    if (status === 429) return context.json({ error: 'TooManyRequests' }, 429, { 'retry-after': '1' });
    if (status === 503) return context.json({ error: 'ServiceUnavailable' }, 503, { 'retry-after': '1' });
    return next();
  });

  app.post('/api/v2/tickets', async (context) => {
    const text = await context.req.text();
    const parsed = creation.safeParse(JSON.parse(text));
    if (!parsed.success) return context.json({ error: 'RecordInvalid' }, 422);
    const key = context.req.header('idempotency-key');
    const known = key === undefined ? undefined : state.keys[key];
    if (known !== undefined && now() - known.atMs < KEY_LIFETIME_MS) {
      if (known.fingerprint !== text) {
        return context.json(
          { error: 'IdempotentRequestError', description: 'Other parameters under the same key' },
          400,
        );
      }
      const ticket = state.tickets.find(({ id }) => id === known.ticket);
      return context.json({ ticket }, 201, { 'x-idempotency-lookup': 'hit' });
    }
    const { ticket: wanted } = parsed.data;
    const ticket: Ticket = {
      id: 7000 + state.tickets.length + 1,
      external_id: wanted.external_id ?? null,
      subject: wanted.subject,
      status: 'new',
      comments: [wanted.comment.body],
    };
    state.tickets.push(ticket);
    if (key !== undefined) state.keys[key] = { fingerprint: text, ticket: ticket.id, atMs: now() };
    save();
    return context.json({ ticket }, 201, key === undefined ? {} : { 'x-idempotency-lookup': 'miss' });
  });

  app.get('/api/v2/tickets', (context) => {
    const wanted = context.req.query('external_id');
    const tickets = state.tickets.filter((ticket) => wanted === undefined || ticket.external_id === wanted);
    return context.json({ tickets, count: tickets.length });
  });

  app.put('/api/v2/tickets/:id', async (context) => {
    const ticket = state.tickets.find(({ id }) => String(id) === context.req.param('id'));
    if (ticket === undefined) return context.json({ error: 'RecordNotFound' }, 404);
    const parsed = change.safeParse(await context.req.json());
    if (!parsed.success) return context.json({ error: 'RecordInvalid' }, 422);
    if (ticket.status === 'closed') {
      return context.json({ error: 'RecordInvalid', description: 'Closed tickets cannot be changed' }, 422);
    }
    ticket.status = parsed.data.ticket.status ?? ticket.status;
    if (parsed.data.ticket.comment !== undefined) ticket.comments.push(parsed.data.ticket.comment.body);
    save();
    return context.json({ ticket });
  });

  return { app, state };
};
