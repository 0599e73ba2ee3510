/**
 * One request to the embedded cloud. Not made with `fetch`: with NODE_USE_ENV_PROXY, `fetch` sends it to the
 * proxy of the environment, which cannot reach the loopback of this machine.
 */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface LoopbackAnswer {
  status: number;
  body: string;
}

/** Rejects when nothing answers. */
export const requestHere = (
  url: URL,
  { method, headers, body }: { method: string; headers: Record<string, string>; body?: string },
): Promise<LoopbackAnswer> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { method, headers, agent: false });
    asked.once('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    });
    asked.once('error', reject);
    asked.end(body);
  });
