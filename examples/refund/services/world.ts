/** All services of the refund example behind one `fetch`: each is a host name under `.test`, in process or on loopback. */
import { join } from 'node:path';
import { Hono } from 'hono';
import { fakeNetsuite, type NetsuiteFaults } from './netsuite.ts';
import { fakeShop, type ShopFaults } from './shop.ts';
import { fakeStripe, type StripeFaults } from './stripe.ts';
import { fakeZendesk, type ZendeskFaults } from './zendesk.ts';

export interface WorldOptions {
  now?: () => number;
  /** Directory that keeps the services' state. */
  directory?: string;
  faults?: StripeFaults & ZendeskFaultsNamed & NetsuiteFaultsNamed & ShopFaults;
}

interface ZendeskFaultsNamed {
  zendesk?: ZendeskFaults;
}
interface NetsuiteFaultsNamed {
  netsuite?: NetsuiteFaults;
}

/** One application per service, mounted below its name: `/stripe`, `/zendesk`, `/netsuite`, `/shop`. */
export const refundWorld = (options: WorldOptions = {}) => {
  const file = (name: string) =>
    options.directory === undefined ? {} : { file: join(options.directory, `${name}.json`) };
  const clock = options.now === undefined ? {} : { now: options.now };
  const faults = options.faults ?? {};
  const stripe = fakeStripe({ ...clock, ...file('stripe'), faults });
  const zendesk = fakeZendesk({
    ...clock,
    ...file('zendesk'),
    ...(faults.zendesk === undefined ? {} : { faults: faults.zendesk }),
  });
  const netsuite = fakeNetsuite({
    ...clock,
    ...file('netsuite'),
    ...(faults.netsuite === undefined ? {} : { faults: faults.netsuite }),
  });
  const shop = fakeShop({ ...clock, ...file('shop'), faults });
  const services = { stripe, zendesk, netsuite, shop };

  const app = new Hono();
  app.all('/:service/*', async (context) => {
    const url = new URL(context.req.url);
    const [, name = '', ...rest] = url.pathname.split('/');
    const service =
      name === 'stripe' || name === 'zendesk' || name === 'netsuite' || name === 'shop'
        ? services[name]
        : undefined;
    if (service === undefined) return context.notFound();
    url.pathname = `/${rest.join('/')}`;
    return service.app.fetch(new Request(url, context.req.raw));
  });
  return { ...services, app };
};

export type RefundWorld = ReturnType<typeof refundWorld>;
