/** The shop's own services: orders with their return policy, and mail. Mail that was sent cannot be taken back. */
import { Hono } from 'hono';
import * as z from 'zod';
import { keep, type ServiceOptions } from './state.ts';

interface Order {
  id: string;
  paymentIntent: string;
  amount: number;
  customerEmail: string;
  daysSinceDelivery: number;
}

interface State {
  orders: Record<string, Order>;
  mails: { id: string; key: string; to: string; subject: string }[];
}

export interface ShopFaults {
  refuseMail?: () => boolean;
}

const RETURN_DAYS = 30;
const mail = z.object({ to: z.string(), subject: z.string(), text: z.string() });

export const fakeShop = (options: ServiceOptions & { faults?: ShopFaults } = {}) => {
  const { state, save } = keep<State>({ orders: {}, mails: [] }, options.file);
  const app = new Hono();

  app.get('/orders/:id/return', (context) => {
    const order = state.orders[context.req.param('id')];
    if (order === undefined) return context.json({ error: 'unknown order' }, 404);
    return context.json({ ...order, eligible: order.daysSinceDelivery <= RETURN_DAYS });
  });

  app.post('/mails', async (context) => {
    const parsed = mail.safeParse(await context.req.json());
    if (!parsed.success) return context.json({ error: 'invalid mail' }, 400);
    if (options.faults?.refuseMail?.() === true) return context.json({ error: 'mailbox unavailable' }, 422);
    const key = context.req.header('idempotency-key') ?? '';
    const known = state.mails.find((one) => key !== '' && one.key === key);
    if (known !== undefined) return context.json(known, 202);
    const sent = {
      id: `msg-${state.mails.length + 1}`,
      key,
      to: parsed.data.to,
      subject: parsed.data.subject,
    };
    state.mails.push(sent);
    save();
    return context.json(sent, 202);
  });
  app.get('/mails', (context) => {
    const key = context.req.query('key');
    return context.json({ mails: state.mails.filter((one) => key === undefined || one.key === key) });
  });

  return {
    app,
    state,
    addOrder: (order: Order) => {
      state.orders[order.id] = order;
      save();
    },
  };
};
