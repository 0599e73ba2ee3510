/** Stands between the functions and E2B, passes everything on, and keeps what went by and when. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestCloud } from './cloud.ts';
import { listenOnLoopback } from './loopback.ts';

export interface RecordedRequest {
  method: string;
  path: string;
  /** Headers and body, as far as they are text. */
  text: string;
  startMs: number;
  /** When its answer had arrived in full. */
  endMs: number;
}

const NOT_PASSED = /^(host|connection|content-length|content-encoding|transfer-encoding|expect|keep-alive)$/;

const passOn = async (target: URL, incoming: IncomingMessage, body: Buffer, response: ServerResponse) => {
  const headers = Object.entries(incoming.headers).filter(([name]) => !NOT_PASSED.test(name));
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  const answer = await fetch(target, {
    method: incoming.method ?? 'GET',
    headers: headers.map(([name, value]) => [name, String(value)] as [string, string]),
    ...(hasBody && { body: new Uint8Array(body) }),
  });
  const passed = [...answer.headers].filter(([name]) => !NOT_PASSED.test(name));
  response.writeHead(answer.status, Object.fromEntries(passed));
  response.flushHeaders();
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
};

/** Those that go into a sandbox; looking it up, connecting, creating and listing are the control plane's. */
export const isDataPlane = ({ path }: Pick<RecordedRequest, 'path'>): boolean =>
  /^\/(process\.Process|files|filesystem)/.test(path);

/** The longest row of requests of which each began when the one before had ended. */
export const sequentialTrips = (requests: readonly RecordedRequest[]): number => {
  let trips = 0;
  let freeMs = -Infinity;
  for (const { startMs, endMs } of requests.toSorted((a, b) => a.endMs - b.endMs)) {
    if (startMs < freeMs) continue;
    trips += 1;
    freeMs = endMs;
  }
  return trips;
};

/** Functions reach E2B through the recorder until it is disposed of. `before` is waited for before a request is passed on. */
export const recordE2b = async (
  cloud: TestCloud,
  before: (request: RecordedRequest) => Promise<void> = () => Promise.resolve(),
) => {
  const requests: RecordedRequest[] = [];
  const record = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startMs = performance.now();
    const body = Buffer.concat(await incoming.toArray());
    const text = `${JSON.stringify(incoming.headers)}\n${body.toString('latin1')}`;
    const seen = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      text,
      startMs,
      endMs: Infinity,
    };
    requests.push(seen);
    await before(seen);
    await passOn(new URL(seen.path, cloud.endpoints.e2b), incoming, body, response);
    seen.endMs = performance.now();
  };
  const server = createServer((incoming, response) => {
    record(incoming, response).catch(() => response.destroy());
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  cloud.reconfigure({ E2B_API_URL: url, E2B_SANDBOX_URL: url });
  return {
    requests: requests as readonly RecordedRequest[],
    [Symbol.asyncDispose]: async (): Promise<void> => {
      cloud.heal();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
};
