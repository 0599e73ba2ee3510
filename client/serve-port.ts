/** A server of tools on one port of this machine. It accepts only requests that are signed for its URL. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifySignature } from '../kit/verify-signature.ts';
import { errors } from './errors.ts';

export interface Serving {
  handle: (request: unknown) => Promise<unknown>;
  urlOf: (port: number) => string;
  keyOf: (url: string) => string;
  onError: (error: unknown) => void;
}

export interface ServedPort {
  port: number;
  close(): Promise<void>;
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Port ${port} is taken, perhaps by another process that serves these tools: ${cause.message}. End that process, or give these tools a new version and another \`port\`.`;
      reject(new errors.ConfigurationError(message, { cause }));
    });
    server.listen(port, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
      resolve((server.address() as AddressInfo).port);
    });
  });

/** Port 0 means any free port. */
export const servePort = async (
  wanted: number,
  { handle, urlOf, keyOf, onError }: Serving,
): Promise<ServedPort> => {
  const place = { url: '', key: '' };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (place.key === '' || !verifySignature({ url: place.url, headers: request.headers, body }, place.key)) {
      response.writeHead(401).end();
      return;
    }
    response.end(JSON.stringify(await handle(JSON.parse(body))));
  };
  const server = createServer((request, response) => {
    // A 500 says that it is not known how far the call came, so the saga asks the probe.
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end();
      onError(error);
    });
  });
  const port = await listen(server, wanted);
  const url = urlOf(port);
  Object.assign(place, { url, key: keyOf(url) });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
  return { port, close };
};
