import { refundWorld, type WorldOptions } from '../../examples/refund/services/world.ts';
import type { Fetch } from '../../examples/refund/tools/http.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';

const BASE = 'http://refund.test';

/** The example's services in this process: the tools reach them by `fetch`, without a socket. */
export const refundFixture = (
  options: WorldOptions = {},
  network: (fetch: Fetch) => Fetch = (fetch) => fetch,
) => {
  const world = refundWorld(options);
  world.stripe.addPayment('pi_1', 12_000);
  world.shop.addOrder({
    id: 'order-1',
    paymentIntent: 'pi_1',
    amount: 4200,
    customerEmail: 'ada@example.com',
    daysSinceDelivery: 3,
  });
  const direct: Fetch = async (input, init) => world.app.fetch(new Request(input, init));
  return { world, services: servicesAt(BASE, 'sk_test_example', network(direct)) };
};

/** Everything the providers show of effects. */
export const effectsOf = ({ world }: ReturnType<typeof refundFixture>) => ({
  refunds: world.stripe.state.refunds.map(({ id, amount, status, metadata }) => ({
    id,
    amount,
    status,
    metadata,
  })),
  tickets: world.zendesk.state.tickets.map(({ id, status, external_id }) => ({ id, status, external_id })),
  entries: world.netsuite.state.entries.map(({ id, externalId, amount }) => ({ id, externalId, amount })),
  mails: world.shop.state.mails.map(({ id, to }) => ({ id, to })),
});
