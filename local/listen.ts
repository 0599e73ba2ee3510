/** The HTTP listeners of the embedded cloud, on loopback only. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createProbe, type Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { WalkbackError } from '../core/shared/errors.ts';
import type { Activity } from './activity.ts';
import { refusalOf } from './e2b/guard.ts';

export const HOST = '127.0.0.1';

/** One loopback listener of the embedded cloud. */
export interface Endpoint {
  url: string;
  port: number;
  /** Stops accepting, drops open connections, and returns when the port is free. */
  close(): Promise<void>;
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');

const portTaken = (port: number, cause: unknown): WalkbackError =>
  new WalkbackError(
    'ConfigurationError',
    `port ${port} on ${HOST} cannot be used (taken, or not allowed); choose another with --port`,
    { cause, details: { port } },
  );

const listening = async (server: Server, port: number, host = HOST): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host }, () => resolve());
  try {
    await promise;
  } catch (error) {
    throw isTaken(error) ? portTaken(port, error) : error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return address.port;
};

/** Listens on loopback only. Port 0 means any free port. A taken port is a `ConfigurationError` that names it. */
const listen = async (listener: RequestListener, port = 0, activity?: Activity): Promise<Endpoint> => {
  const server = createServer(listener);
  activity?.watch(server);
  // A command or an upload may be silent for minutes.
  server.requestTimeout = 0;
  // Idle connections are not closed either: a client that was about to use one would see a reset.
  server.keepAliveTimeout = 0;
  const bound = await listening(server, port);
  return {
    url: `http://${HOST}:${bound}`,
    port: bound,
    close: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
};

/** For pages, which decide themselves whom they answer. */
export const listenPages = (app: Pick<Hono, 'fetch'>, port = 0): Promise<Endpoint> => {
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return listen((incoming, response) => {
    Promise.resolve(answer(incoming, response)).catch(() => response.destroy());
  }, port);
};

interface AppOptions {
  activity?: Activity;
  /** The app's own pages may send it forms. */
  hasPages?: true;
}

/**
 * The same for a Hono app. Requests of other web pages, and with unknown hosts, are refused before the app
 * sees them.
 */
export const listenApp = (
  app: Pick<Hono, 'fetch'>,
  port = 0,
  { activity, hasPages }: AppOptions = {},
): Promise<Endpoint> => {
  // The server must not replace the process's own Request and Response, because functions use those.
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return listen(
    (incoming, response) => {
      const { origin, host } = incoming.headers;
      const isOwn = hasPages === true && origin === `http://${host}`;
      const refused = refusalOf(isOwn ? { host } : { origin, host });
      if (refused !== undefined) {
        response
          .writeHead(403, { 'content-type': 'application/json' })
          .end(JSON.stringify({ message: refused }));
        return;
      }
      // An error that an app does not handle breaks the connection, but never ends the process.
      Promise.resolve(answer(incoming, response)).catch(() => response.destroy());
    },
    port,
    activity,
  );
};

/**
 * A port for a child process that must be given one. It is checked to be free now, though another process
 * could still take it.
 */
export const claimPort = async (port = 0, host = HOST): Promise<number> => {
  const probe = createProbe();
  const bound = await listening(probe, port, host);
  const { promise, resolve } = Promise.withResolvers<void>();
  probe.close(() => resolve());
  await promise;
  return bound;
};
