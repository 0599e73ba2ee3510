import { Stripe } from 'stripe';
import * as z from 'zod';
import { defineTool, type ToolCall } from '../../../kit/define-tool.ts';
import { ToolRejected, ToolUncertain } from '../../../kit/outcomes.ts';
import type { RefundServices } from './services.ts';

const DAY_SECONDS = 24 * 3600;

/** The key also stands in the refund's metadata: that is how a probe finds it after Stripe forgot the header. */
const KEY = 'walkback_key';

const refund = z.object({ id: z.string(), status: z.string(), amount: z.int(), currency: z.string() });

const clientOf = ({ fetch, stripe }: RefundServices): Stripe =>
  new Stripe(stripe.apiKey, {
    // The saga repeats calls, with its own keys and budget; the client must not.
    maxNetworkRetries: 0,
    telemetry: false,
    httpClient: Stripe.createFetchHttpClient((url, init) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url);
      return fetch(`${stripe.baseUrl}${pathname}${search}`, init);
    }),
  });

/** What Stripe's errors mean (docs.stripe.com/error-low-level): a 500 is indeterminate, and stored like any answer. */
const outcomeOf = (error: unknown): unknown => {
  if (!(error instanceof Stripe.errors.StripeError)) return error;
  const { message, code, statusCode } = error;
  if (error instanceof Stripe.errors.StripeConnectionError)
    return new ToolUncertain('ConnectionLost', message, { cause: error });
  if (error instanceof Stripe.errors.StripeRateLimitError) {
    return new ToolRejected('Throttled', message, { retryable: true, cause: error });
  }
  if (statusCode === 409) return new ToolUncertain('InFlight', message, { cause: error });
  if (error instanceof Stripe.errors.StripeIdempotencyError) {
    return new ToolUncertain('KeyReused', message, { answered: true, cause: error });
  }
  if (statusCode !== undefined && statusCode >= 500)
    return new ToolUncertain('ServerError', message, { answered: true, cause: error });
  return new ToolRejected(code ?? 'Refused', message, { cause: error });
};

const asking = async <Answer>(question: Promise<Answer>): Promise<Answer> => {
  try {
    return await question;
  } catch (error) {
    throw outcomeOf(error);
  }
};

const optionsOf = (call: ToolCall) => ({
  idempotencyKey: call.idempotencyKey,
  timeout: call.remainingMs(),
});

const findByKey = async (
  client: Stripe,
  paymentIntent: string,
  call: ToolCall,
): Promise<Stripe.Refund | undefined> => {
  const options = { timeout: call.remainingMs() };
  const page = await asking(client.refunds.list({ payment_intent: paymentIntent, limit: 100 }, options));
  return page.data.find(({ metadata }) => metadata?.[KEY] === call.forwardKey);
};

/** 1.0.0 declared no link to the refund. Sagas that pinned it go on with it, so the function serves both. */
type Version = '1.0.0' | '1.1.0';

export const issueRefund = (services: RefundServices, version: Version = '1.1.0') => {
  const client = clientOf(services);
  return defineTool({
    name: 'issue_refund',
    version,
    description:
      'Refunds a payment with Stripe. Undone by void_refund while the refund waits for the customer.',
    effect: 'compensatable',
    timeoutSeconds: 30,
    retry: { maxAttempts: 3, backoffSeconds: 1 },
    idempotencyWindowSeconds: DAY_SECONDS,
    replaysErrors: true,
    resourceKey: 'paymentIntent',
    input: z.strictObject({ paymentIntent: z.string().min(1), amount: z.int().min(1) }),
    output: refund,
    externalRef: ({ id }) => id,
    amount: 'result.amount',
    currency: 'result.currency',
    amountDirection: 'out',
    minorUnits: true,
    ...(version === '1.1.0' && {
      externalUrl: '"https://dashboard.stripe.com/payments/" & arguments.paymentIntent',
    }),
    execute: async ({ paymentIntent, amount }, call) => {
      const params = { payment_intent: paymentIntent, amount, metadata: { [KEY]: call.forwardKey } };
      return refund.parse(await asking(client.refunds.create(params, optionsOf(call))));
    },
    compensate: {
      name: 'void_refund',
      timeoutSeconds: 30,
      execute: async ({ arguments: { paymentIntent } }, call) => {
        // Always by key: a reference known here was found by the same key, and a lost answer left none.
        const found = await findByKey(client, paymentIntent, call);
        if (found === undefined || found.status === 'canceled')
          return found === undefined ? {} : { externalRef: found.id };
        // Without a key: cancelling is idempotent by itself, and under a key Stripe would answer a stored error for ever.
        try {
          await asking(client.refunds.cancel(found.id, {}, { timeout: call.remainingMs() }));
        } catch (error) {
          // This call may be delivered twice at once: what the other one cancelled cannot be cancelled again.
          const seen =
            error instanceof ToolRejected ? await findByKey(client, paymentIntent, call) : undefined;
          if (seen?.status !== 'canceled') throw error;
        }
        return { externalRef: found.id };
      },
    },
    probe: async ({ paymentIntent }, call) => {
      const found = await findByKey(client, paymentIntent, call);
      return found === undefined ? { happened: false } : { happened: true, result: refund.parse(found) };
    },
  });
};
