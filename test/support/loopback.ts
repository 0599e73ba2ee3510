import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Lets a server listen on a free port of loopback, and answers the port. */
export const listenOnLoopback = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
};

/** The first of so many free ports in a row, below those that the system gives to every connection on this machine. */
export const freePortsInARow = async (count: number): Promise<number> => {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (free.every(Boolean)) return first;
  }
};

/** A port for a child process that must be given one. It is free now, though another process could still take it. */
export const claimPort = async (): Promise<number> => {
  const probe = createServer();
  const port = await listenOnLoopback(probe);
  probe.close();
  await once(probe, 'close');
  return port;
};
