/**
 * A loopback proxy in front of the E2B endpoint that notes when each request came and went. Bodies pass as they come. Every
 * call to a sandbox takes a while longer, as over a network: otherwise calls made at the same time end before the next begins.
 */
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

const LATENCY_MS = 250;

interface Trip {
  startedMs: number;
  endedMs: number;
}

export interface CountingProxy {
  url: string;
  /** Forgets what it saw. */
  reset(): void;
  /** Requests to a sandbox's data plane (commands, files) since the last reset, but for those beside storing. */
  requests(): number;
  /** The longest sequence of them in which each began after the one before had ended. */
  sequential(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What was read is removed while it is stored. */
const BESIDE_STORING = /rm -rf -- \S*\/run-/;

/** Taking whatever ends first is the longest sequence of intervals that do not overlap. */
const longestSequence = (trips: readonly Trip[]): number => {
  let count = 0;
  let freeAtMs = Number.NEGATIVE_INFINITY;
  for (const trip of trips.toSorted((a, b) => a.endedMs - b.endedMs)) {
    if (trip.startedMs < freeAtMs) continue;
    count += 1;
    freeAtMs = trip.endedMs;
  }
  return count;
};

export const startCountingProxy = async (target: string): Promise<CountingProxy> => {
  const backend = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const trips: Trip[] = [];
  const server = createServer((incoming, response) => {
    // The data plane is told which sandbox by this header; the control plane never is.
    let isTrip = incoming.headers['e2b-sandbox-id'] !== undefined;
    incoming.once('data', (bytes: Buffer) => {
      isTrip &&= !BESIDE_STORING.test(bytes.toString());
    });
    const startedMs = performance.now();
    const { method, url: path, headers } = incoming;
    const forwarded = request({ host: backend.hostname, port: backend.port, method, path, headers, agent });
    const pass = async (answer: IncomingMessage): Promise<void> => {
      if (isTrip) await delay(LATENCY_MS);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      await pipeline(answer, response);
    };
    forwarded.on('response', (answer) => void pass(answer).catch(() => response.destroy()));
    forwarded.on('error', () => response.destroy());
    response.on('close', () => {
      if (isTrip) trips.push({ startedMs, endedMs: performance.now() });
    });
    pipeline(incoming, forwarded).catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', () => listening.resolve());
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy does not listen on TCP.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    reset: () => void trips.splice(0),
    requests: () => trips.length,
    sequential: () => longestSequence(trips),
    [Symbol.asyncDispose]: async () => {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
      agent.destroy();
    },
  };
};
