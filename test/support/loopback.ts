import { once } from 'node:events';
import type { Server } from 'node:net';

/** Lets a server listen on a free port of loopback, and answers the port. */
export const listenOnLoopback = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
};
