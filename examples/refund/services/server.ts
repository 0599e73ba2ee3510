/** The example's services on loopback, for the tools of a running cloud. */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type RefundWorld, refundWorld, type WorldOptions } from './world.ts';

export interface RefundServicesServer {
  url: string;
  world: RefundWorld;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';

/** Port 0: any free one. */
export const startRefundServices = async (
  options: WorldOptions = {},
  port = 0,
): Promise<RefundServicesServer> => {
  const world = refundWorld(options);
  const answer = getRequestListener(world.app.fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, response) => void answer(incoming, response));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: HOST }, () => resolve());
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('not a TCP listener');
  return {
    url: `http://${HOST}:${address.port}`,
    world,
    close: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
};
