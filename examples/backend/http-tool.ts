/** A tool served over HTTP: the signature is checked before the body is read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { toolHandler } from '../../kit/handler.ts';
import { verifySignature } from '../../kit/verify-signature.ts';

type Tools = Parameters<typeof toolHandler>[0];
type Options = Parameters<typeof toolHandler>[1];

export const serveTools = (
  tools: Tools,
  options: Options,
  { ENDPOINT, KEY }: { ENDPOINT: string; KEY: string },
) => {
  const handle = toolHandler(tools, options);
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (!verifySignature({ url: ENDPOINT, headers: request.headers, body }, KEY)) {
      response.writeHead(401).end();
      return;
    }
    response.end(JSON.stringify(await handle(JSON.parse(body))));
  };
};
