/** Serves the tool over HTTP. `key` belongs to the origin of `url` (docs/tools.md, Tools over HTTP). */
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Tombstones, type Tool, toolHandler, verifySignature } from 'walkback/kit';

export interface Served {
  tools: readonly Tool[];
  tombstones: Tombstones;
  /** As the manifest has it: the signature is over this, not over what a request says of itself. */
  url: string;
  key: string;
}

export const serveTools = ({ tools, tombstones, url, key }: Served): Server => {
  const handle = toolHandler(tools, { tombstones });
  return createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await text(request);
      if (!verifySignature({ url, headers: request.headers, body }, key)) {
        response.writeHead(401).end();
        return;
      }
      response.end(JSON.stringify(await handle(JSON.parse(body))));
    };
    // A 500 says that it is not known how far the call came: the saga asks the probe.
    answer().catch(() => response.writeHead(500).end());
  });
};
