/**
 * The embedded cloud's E2B: control plane and data plane on one loopback port, so `E2B_API_URL` and
 * `E2B_SANDBOX_URL` are the same URL. A sandbox is a directory, and its commands are processes of this
 * machine's user. It isolates nothing, which is why `guard.ts` is strict about who may ask.
 */
import { getRequestListener } from '@hono/node-server';
import type { Activity } from '../activity.ts';
import { type Endpoint, listen, type ServiceAddress } from '../listen.ts';
import { createE2bApp, type E2bApp, type E2bAppOptions } from './app.ts';

export interface E2bOptions extends E2bAppOptions {
  place?: ServiceAddress;
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

export const startE2b = async ({ place, activity, ...options }: E2bOptions): Promise<Endpoint> => {
  const starting = Promise.withResolvers<E2bApp>();
  let isClosing = false;
  const answer = getRequestListener(
    async (request, { outgoing }) => cutOnFailure(await (await starting.promise).fetch(request), outgoing),
    // The functions run in this process too, and use the platform's own classes.
    { overrideGlobalObjects: false },
  );
  // The port is taken first. If another server has it, that server may own the directory too, and nothing
  // there is touched.
  const endpoint = await listen(
    (incoming, response) => {
      if (isClosing) incoming.socket.destroy();
      else answer(incoming, response).catch(() => response.destroy());
    },
    place,
    { activity },
  );
  const app = await createE2bApp(options).catch(async (error: unknown) => {
    await endpoint.close();
    throw error;
  });
  starting.resolve(app);

  const stop = async (): Promise<void> => {
    isClosing = true;
    // Those who wait for a process see its end.
    await app.close();
    await endpoint.close();
  };
  let stopped: Promise<void> | undefined;
  return { ...endpoint, close: () => (stopped ??= stop()) };
};
