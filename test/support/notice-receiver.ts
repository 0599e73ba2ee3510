/** Somebody who takes notices: answers each request with the next status, then with 200. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  text: string;
  eventId: string;
  authorization: string | undefined;
  status: number;
}

export const startReceiver = async (statuses: number[] = []) => {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const status = statuses.shift() ?? 200;
      received.push({ ...JSON.parse(body), authorization: request.headers.authorization, status });
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    received,
    url: `http://127.0.0.1:${port}/notices`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
