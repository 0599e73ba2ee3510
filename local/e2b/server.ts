/**
 * The embedded cloud's E2B: control plane and data plane on one loopback port, so `E2B_API_URL` and
 * `E2B_SANDBOX_URL` are the same URL. A sandbox is a directory, and its commands are processes of this
 * machine's user. It isolates nothing, which is why `guard.ts` is strict about who may ask.
 */
import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import type { Activity } from '../activity.ts';
import { createE2bApp, type E2bApp, type E2bAppOptions } from './app.ts';

export interface E2bOptions extends E2bAppOptions {
  /** 0 or absent: any free port. */
  port?: number;
  activity?: Activity;
}

/** When a body fails, cuts the connection, without the log entry and the text that the adaptor would write. */
const cutOnFailure = (response: Response, outgoing: { destroy(): unknown }): Response => {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.read().catch(() => undefined);
        if (next === undefined) outgoing.destroy();
        else if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
};

export const startE2b = async ({
  port: wanted = 0,
  activity,
  ...options
}: E2bOptions): Promise<{ url: string; port: number; close(): Promise<void> }> => {
  const starting = Promise.withResolvers<E2bApp>();
  const server = createAdaptorServer({
    fetch: async (request, { outgoing }) => {
      if (activity !== undefined) outgoing.once('close', activity.begin());
      return cutOnFailure(await (await starting.promise).fetch(request), outgoing);
    },
    // The functions run in this process too, and use the platform's own classes.
    overrideGlobalObjects: false,
    serverOptions: { requestTimeout: 0 },
  });
  // The port is taken first. If another server has it, that server may own the directory too, and nothing
  // there is touched.
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const app = await createE2bApp(options).catch((error: unknown) => {
    server.close();
    throw error;
  });
  starting.resolve(app);

  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    await app.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
  };
  let stopped: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () => {
      stopped ??= stop();
      return stopped;
    },
  };
};
