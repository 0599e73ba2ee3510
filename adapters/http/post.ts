/**
 * One POST on its own connection. `fetch` is not used: it pools connections, gives up after 300 s, and does
 * not report whether anything was sent. Only that tells "nothing happened" from "unknown".
 */
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { HttpReply } from '../../core/saga/tools/http-response.ts';
import type { HttpPost } from '../../core/saga/tools/http-tool.ts';

/** Null when the body is longer than the limit. */
const readText = async (answer: IncomingMessage, maxBytes: number): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer) {
    const bytes = Buffer.from(chunk);
    sizeBytes += bytes.byteLength;
    if (sizeBytes > maxBytes) return null;
    chunks.push(bytes);
  }
  // Without a byte order mark, which some programs write although JSON has none.
  return new TextDecoder().decode(Buffer.concat(chunks));
};

const readReply = async (answer: IncomingMessage, maxBytes: number): Promise<HttpReply> => ({
  kind: 'answered',
  status: answer.statusCode ?? 0,
  retryAfter: answer.headers['retry-after'],
  body: await readText(answer, maxBytes),
});

/**
 * Imported only when needed: the module `node:http` loads everything that `fetch` needs, and only tools on
 * this machine are called without TLS.
 */
const requestWith = async (secure: boolean): Promise<typeof requestHttps> =>
  secure ? requestHttps : (await import('node:http')).request;

/** Never rejects. A redirect is an answer like any other. */
export const postJson = async ({ url, headers, body, signal, maxBytes }: HttpPost): Promise<HttpReply> => {
  const secure = url.startsWith('https:');
  const start = await requestWith(secure);
  return new Promise((resolve) => {
    let connected = false;
    const fail = (error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      resolve({ kind: connected ? 'lost' : 'unsent', message });
    };
    const request = start(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: false,
      signal,
    });
    request.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        connected = true;
      });
    });
    request.once('response', (answer) => {
      readReply(answer, maxBytes).then(resolve, fail);
    });
    // We did not ask for another protocol, and what follows is not an answer.
    request.once('upgrade', ({ statusCode: status = 0 }, socket) => {
      socket.destroy();
      resolve({ kind: 'answered', status, body: '' });
    });
    request.on('error', fail);
    request.end(body);
  });
};
