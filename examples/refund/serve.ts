/** Runs the example's services on loopback until it is interrupted: `node examples/refund/serve.ts [port] [directory]`. */
import { mkdirSync } from 'node:fs';
import { startRefundServices } from './services/server.ts';

const [port = '4400', directory] = process.argv.slice(2);
if (directory !== undefined) mkdirSync(directory, { recursive: true });
const { url, world } = await startRefundServices(directory === undefined ? {} : { directory }, Number(port));
world.stripe.addPayment('pi_1001', 12_000);
world.shop.addOrder({
  id: '1001',
  paymentIntent: 'pi_1001',
  amount: 4200,
  customerEmail: 'ada@example.com',
  daysSinceDelivery: 3,
});
process.stdout.write(`REFUND_SERVICES_URL=${url}\n`);
