import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRefundServices, type RefundServicesServer } from '../../examples/refund/services/server.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';

let cloud: TestCloud;
let services: RefundServicesServer;

beforeAll(async () => {
  services = await startRefundServices();
  cloud = await startTestCloud();
  cloud.reconfigure({ REFUND_SERVICES_URL: services.url, REFUND_STRIPE_KEY: 'sk_test_example' });
  await cloud.invoke('put-catalog', {
    tools: refundManifests(servicesAt(services.url, 'sk_test_example', fetch), 'walkback-tool-refund'),
    definitions: refundDefinitions,
  });
});

afterAll(async () => {
  await cloud.close();
  await services.close();
});

const order = (id: string) => {
  services.world.stripe.addPayment(`pi_${id}`, 10_000);
  services.world.shop.addOrder({
    id,
    paymentIntent: `pi_${id}`,
    amount: 2500,
    customerEmail: 'ada@example.com',
    daysSinceDelivery: 2,
  });
  return { orderId: id };
};

describe('a saga on the embedded cloud', () => {
  it('runs the refund saga from start to observation', async () => {
    const started = await cloud.invoke('start-saga', {
      sagaId: 'refund-1',
      definition: { name: 'refund' },
      input: order('a1'),
      requestedBy: 'agent-7',
    });
    expect(started).toMatchObject({ sagaId: 'refund-1' });
    const seen = await cloud.invoke('describe-saga', { sagaId: 'refund-1', waitSeconds: 30 });
    expect(seen).toMatchObject({ status: 'COMPLETED' });
    expect(services.world.shop.state.mails).toHaveLength(1);
  });
});
