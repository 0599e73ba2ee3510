/** The fake providers of the refund example, for the acts that need them, and the switches that make them fail. */
import type { Invoke } from '../../contract/invoke.ts';
import { refundDefinitions, refundManifests } from '../../examples/refund/catalog.ts';
import { type RefundServicesServer, startRefundServices } from '../../examples/refund/services/server.ts';
import { servicesAt } from '../../examples/refund/tools/services.ts';

const STRIPE_KEY = 'sk_test_demo';
const TOOL_FUNCTION = 'walkback-tool-refund';
/** The amount of every order. */
export const AMOUNT = 4200;

export interface Providers extends Pick<RefundServicesServer, 'world' | 'close'> {
  /** Which bookings are refused because the accounting period is closed. */
  closedFor: (externalId: string) => boolean;
  refusesMail: boolean;
  addOrder(order: { id: string; customerEmail: string }): void;
}

/** Starts them, and puts the refund tools into the catalog. */
export const openProviders = async (invoke: Invoke): Promise<Providers> => {
  const switches: Pick<Providers, 'closedFor' | 'refusesMail'> = {
    closedFor: () => false,
    refusesMail: false,
  };
  const server = await startRefundServices({
    faults: {
      refuseMail: () => switches.refusesMail,
      netsuite: { closedPeriod: (_, externalId) => switches.closedFor(externalId) },
    },
  });
  const { url, world } = server;
  try {
    // The tools run in this process, and read the address of their providers when they are first called.
    process.env['REFUND_SERVICES_URL'] = url;
    process.env['REFUND_STRIPE_KEY'] = STRIPE_KEY;
    await invoke('walkback-put-catalog', {
      tools: refundManifests(servicesAt(url, STRIPE_KEY, fetch), TOOL_FUNCTION),
      definitions: refundDefinitions,
    });
  } catch (error) {
    await server.close();
    throw error;
  }
  return Object.assign(switches, {
    world,
    close: () => server.close(),
    addOrder: ({ id, customerEmail }: { id: string; customerEmail: string }) => {
      world.stripe.addPayment(`pi_${id}`, 12_000);
      world.shop.addOrder({
        id,
        paymentIntent: `pi_${id}`,
        amount: AMOUNT,
        customerEmail,
        daysSinceDelivery: 3,
      });
    },
  });
};
