/** The HTTP listeners of the embedded cloud, on loopback only. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { WalkbackError } from '../core/shared/errors.ts';
import type { Activity } from './activity.ts';
import { refusalOf } from './e2b/guard.ts';

const HOST = '127.0.0.1';

/** Where one service of the embedded cloud answers. */
export interface Endpoint {
  url: string;
  port: number;
  /** Takes no more requests, drops those under way, and returns when a port of its own is free. */
  close(): Promise<void>;
}

interface Served {
  answer: RequestListener;
  /** It asks for the body itself, after it has looked at the headers (`Expect: 100-continue`). */
  asksForBody: boolean;
}

/** A path below which a service answers, on a port that it shares with others. */
export interface SharedPath {
  port: number;
  /** Empty: it answers what no other service of the port does. */
  path: string;
  serve(served: Served): () => void;
}

/** A port of its own (0: any free one), or a path of a shared one. */
export type ServiceAddress = number | SharedPath;

/** The path below which a service answers. */
export const pathOf = (place: ServiceAddress): string => (typeof place === 'number' ? '' : place.path);

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');

const portTaken = (port: number, cause: unknown): WalkbackError =>
  new WalkbackError(
    'ConfigurationError',
    `port ${port} on ${HOST} cannot be used (taken, or not allowed); choose another with --port`,
    { cause, details: { port } },
  );

const listening = async (server: Server, port: number): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, host: HOST }, () => resolve());
  try {
    await promise;
  } catch (error) {
    throw isTaken(error) ? portTaken(port, error) : error;
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return address.port;
};

/** `/s3/bucket/key?x` is below `/s3`. */
const firstPart = (url = '/'): string => /^\/[^/?]*/.exec(url)?.[0] ?? '';

export interface SharedPort {
  url: string;
  port: number;
  at(path: string): SharedPath;
  close(): Promise<void>;
}

/**
 * Listens on loopback only. Port 0 means any free port. A taken port is a `ConfigurationError` that names it. A
 * request that no service answers is dropped, as when nobody listens.
 */
export const listenShared = async (wanted = 0): Promise<SharedPort> => {
  const services = new Map<string, Served>();
  const find = (incoming: IncomingMessage): Served | undefined =>
    services.get(firstPart(incoming.url)) ?? services.get('');
  const pass = (served: Served | undefined, incoming: IncomingMessage, response: ServerResponse): void => {
    if (served === undefined) incoming.socket.destroy();
    else served.answer(incoming, response);
  };
  const server = createServer((incoming, response) => pass(find(incoming), incoming, response));
  server.on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) => {
    const served = find(incoming);
    if (served?.asksForBody === false) response.writeContinue();
    pass(served, incoming, response);
  });
  // A command, an upload or a download may be silent for minutes, and take as long as it takes.
  server.requestTimeout = 0;
  // Idle connections are not closed either: a client that was about to use one would see a reset.
  server.keepAliveTimeout = 0;
  const port = await listening(server, wanted);
  return {
    url: `http://${HOST}:${port}`,
    port,
    at: (path) => ({
      port,
      path,
      serve: (served) => {
        services.set(path, served);
        return () => void services.delete(path);
      },
    }),
    close: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
  };
};

interface ListenOptions {
  /** Requests count as use, from their first byte until their connection is closed. */
  activity?: Activity | undefined;
  asksForBody?: boolean;
}

export const listen = async (
  listener: RequestListener,
  place: ServiceAddress = 0,
  { activity, asksForBody = false }: ListenOptions = {},
): Promise<Endpoint> => {
  const own = typeof place === 'number' ? await listenShared(place) : undefined;
  const at = typeof place === 'number' ? own?.at('') : place;
  if (at === undefined) throw new Error('neither a port nor a path');
  const underWay = new Set<ServerResponse>();
  const remove = at.serve({
    asksForBody,
    answer: (incoming, response) => {
      underWay.add(response);
      response.once('close', () => underWay.delete(response));
      if (activity !== undefined) response.once('close', activity.begin());
      listener(incoming, response);
    },
  });
  return {
    url: `http://${HOST}:${at.port}${at.path}`,
    port: at.port,
    close: async () => {
      remove();
      for (const response of underWay) response.destroy();
      await own?.close();
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
 * The same for a Hono app, whose routes are below the path of its place. Requests of other web pages, and with
 * unknown hosts, are refused before the app sees them.
 */
export const listenApp = (
  app: Hono,
  place: ServiceAddress = 0,
  { activity, hasPages }: AppOptions = {},
): Promise<Endpoint> => {
  const below = pathOf(place);
  // The request itself keeps its whole path, which is what was signed.
  const routed = new Hono({ getPath: (request) => getPath(request).slice(below.length) || '/' });
  const { fetch } = below === '' ? app : routed.route('/', app);
  // The server must not replace the process's own Request and Response, because functions use those.
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
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
    place,
    { activity },
  );
};
