/** Tools served over HTTP, beside an embedded cloud that calls them. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { readSecret } from '../../adapters/aws/secret.ts';
import { endpointKey } from '../../core/saga/tools/http-signature.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import type { Tool } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { verifySignature } from '../../kit/verify-signature.ts';
import type { TestCloud } from './cloud.ts';
import { listenOnLoopback } from './loopback.ts';

/** Serves them and puts them into the catalog. `unsigned` counts what came without the cloud's signature. */
export const serveHttpTools = async (cloud: TestCloud, tools: readonly Tool[]) => {
  const secret = await readSecret(cloud.environment['WALKBACK_HTTP_TOOL_SECRET_ARN'] ?? '');
  const serve = toolHandler(tools, { tombstones: memoryTombstones() });
  const seen = { unsigned: 0 };
  let endpoint = '';
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      if (
        !verifySignature({ url: endpoint, headers: request.headers, body }, endpointKey(secret, endpoint))
      ) {
        seen.unsigned += 1;
        response.writeHead(401).end();
        return;
      }
      response.end(JSON.stringify(await serve(JSON.parse(body))));
    });
  });
  endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}/tools`;
  await cloud.invoke('put-catalog', {
    tools: tools.map((tool) => manifestOf(tool, { endpoint })),
    definitions: [],
  });
  return { endpoint, seen, close: () => server.close() };
};
