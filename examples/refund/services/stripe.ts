/**
 * A stand-in for Stripe's refunds that keeps what docs.stripe.com says of idempotent requests: the first answer of a key is
 * stored whatever it was, 4xx and 500 included, once the endpoint began to execute, and is answered again; other
 * parameters under the same key are an error; a key in flight answers 409; validation errors, 401 and 429 are not
 * stored; keys are forgotten after 24 hours. A refund can be cancelled only while it requires action.
 */
import { Hono } from 'hono';
import { keep, type ServiceOptions } from './state.ts';

interface Refund {
  id: string;
  object: 'refund';
  amount: number;
  currency: string;
  payment_intent: string;
  status: 'requires_action' | 'canceled' | 'succeeded';
  metadata: Record<string, string>;
  created: number;
}

interface Stored {
  fingerprint: string;
  status: number;
  body: unknown;
  atMs: number;
}

interface State {
  payments: Record<string, { amount: number; currency: string; settled: boolean }>;
  refunds: Refund[];
  keys: Record<string, Stored>;
}

export interface StripeFaults {
  /** The endpoint runs into a 500 of its own; `after` its effect, or before it. The answer is stored. */
  internalError?: (path: string) => 'before' | 'after' | undefined;
  /** 429 before anything is executed; not stored. */
  throttle?: (path: string) => boolean;
}

const KEY_LIFETIME_MS = 24 * 3600_000;

const failure = (type: string, message: string, code?: string) => ({
  error: { type, message, ...(code === undefined ? {} : { code }) },
});

export const fakeStripe = (options: ServiceOptions & { faults?: StripeFaults } = {}) => {
  const now = options.now ?? Date.now;
  const { state, save } = keep<State>({ payments: {}, refunds: [], keys: {} }, options.file);
  const inFlight = new Set<string>();

  interface Answer {
    status: number;
    body: unknown;
    /** False for what Stripe does not store: it was refused before the endpoint began. */
    began: boolean;
  }

  const createRefund = (form: URLSearchParams): Answer => {
    const paymentIntent = form.get('payment_intent') ?? '';
    const amount = Number(form.get('amount'));
    if (paymentIntent === '' || !Number.isInteger(amount) || amount < 1) {
      const body = failure(
        'invalid_request_error',
        'Missing or invalid payment_intent or amount.',
        'parameter_invalid',
      );
      return { status: 400, body, began: false };
    }
    const payment = state.payments[paymentIntent];
    if (payment === undefined) {
      const body = failure(
        'invalid_request_error',
        `No such payment_intent: '${paymentIntent}'`,
        'resource_missing',
      );
      return { status: 404, body, began: true };
    }
    const refunded = state.refunds
      .filter((refund) => refund.payment_intent === paymentIntent && refund.status !== 'canceled')
      .reduce((sum, refund) => sum + refund.amount, 0);
    if (refunded + amount > payment.amount) {
      const body = failure(
        'invalid_request_error',
        'Refund amount is greater than unrefunded amount.',
        'charge_already_refunded',
      );
      return { status: 400, body, began: true };
    }
    const metadata: Record<string, string> = {};
    for (const [name, value] of form) {
      const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
      if (key !== undefined) metadata[key] = value;
    }
    const refund: Refund = {
      id: `re_${String(state.refunds.length + 1).padStart(6, '0')}`,
      object: 'refund',
      amount,
      currency: payment.currency,
      payment_intent: paymentIntent,
      status: payment.settled ? 'succeeded' : 'requires_action',
      metadata,
      created: Math.floor(now() / 1000),
    };
    state.refunds.push(refund);
    return { status: 200, body: refund, began: true };
  };

  const cancelRefund = (id: string): Answer => {
    const refund = state.refunds.find((one) => one.id === id);
    if (refund === undefined) {
      return {
        status: 404,
        body: failure('invalid_request_error', `No such refund: '${id}'`, 'resource_missing'),
        began: true,
      };
    }
    if (refund.status !== 'requires_action') {
      const body = failure(
        'invalid_request_error',
        `You cannot cancel a refund that is ${refund.status}.`,
        'refund_not_cancelable',
      );
      return { status: 400, body, began: true };
    }
    refund.status = 'canceled';
    return { status: 200, body: { ...refund }, began: true };
  };

  const execute = (path: string, form: URLSearchParams): Answer => {
    const broken = options.faults?.internalError?.(path);
    const error = { status: 500, body: failure('api_error', 'An unknown error occurred.'), began: true };
    if (broken === 'before') return error;
    const cancel = /^\/v1\/refunds\/([^/]+)\/cancel$/.exec(path)?.[1];
    const answer = cancel === undefined ? createRefund(form) : cancelRefund(cancel);
    return broken === 'after' ? error : answer;
  };

  const app = new Hono();
  app.use(async (context, next) => {
    if (!(context.req.header('authorization') ?? '').startsWith('Bearer ')) {
      return context.json(failure('invalid_request_error', 'You did not provide an API key.'), 401);
    }
    if (context.req.method === 'POST' && options.faults?.throttle?.(context.req.path) === true) {
      return context.json(failure('invalid_request_error', 'Too many requests.', 'rate_limit'), 429);
    }
    return next();
  });

  app.post('*', async (context) => {
    const { path } = context.req;
    const body = await context.req.text();
    const key = context.req.header('idempotency-key');
    const answer = (status: number, value: unknown, headers: Record<string, string> = {}) =>
      new Response(JSON.stringify(value), {
        status,
        headers: { 'content-type': 'application/json', ...headers },
      });
    if (key === undefined) {
      const made = execute(path, new URLSearchParams(body));
      save();
      return answer(made.status, made.body);
    }
    const fingerprint = `${path}\n${body}`;
    const known = state.keys[key];
    if (known !== undefined && now() - known.atMs < KEY_LIFETIME_MS) {
      if (known.fingerprint === fingerprint)
        return answer(known.status, known.body, { 'idempotent-replayed': 'true' });
      const message =
        'Keys for idempotent requests can only be used with the same parameters they were first used with.';
      return answer(400, failure('idempotency_error', message));
    }
    if (inFlight.has(key)) {
      return answer(
        409,
        failure(
          'idempotency_error',
          'There is currently another in-progress request using this key.',
          'idempotency_key_in_use',
        ),
      );
    }
    inFlight.add(key);
    try {
      // A turn of the event loop, so that two requests with one key really meet.
      await new Promise((resolve) => setImmediate(resolve));
      const made = execute(path, new URLSearchParams(body));
      if (made.began) state.keys[key] = { fingerprint, status: made.status, body: made.body, atMs: now() };
      save();
      return answer(made.status, made.body);
    } finally {
      inFlight.delete(key);
    }
  });

  app.get('/v1/refunds', (context) => {
    const wanted = context.req.query('payment_intent');
    const data = state.refunds.filter((refund) => wanted === undefined || refund.payment_intent === wanted);
    return context.json({ object: 'list', url: '/v1/refunds', has_more: false, data: data.toReversed() });
  });
  app.get('/v1/refunds/:id', (context) => {
    const refund = state.refunds.find((one) => one.id === context.req.param('id'));
    if (refund !== undefined) return context.json(refund);
    return context.json(failure('invalid_request_error', 'No such refund', 'resource_missing'), 404);
  });

  return {
    app,
    state,
    /** A payment by bank transfer: its refunds wait for the customer, and can be cancelled until then. */
    addPayment: (id: string, amount: number, payment: { settled?: boolean } = {}) => {
      state.payments[id] = { amount, currency: 'eur', settled: payment.settled ?? false };
      save();
    },
  };
};
