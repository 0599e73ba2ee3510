/**
 * Serves tools made with the kit over HTTP: the server, the signature, tombstones that last, and the catalog. On this machine one
 * line is enough; deployed, give the public URL and its key.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import type { Json } from '../contract/json.ts';
import { endpointKey } from '../core/saga/tools/http-signature.ts';
import type { Tool } from '../kit/define-tool.ts';
import { openFileTombstones } from '../kit/file-tombstones.ts';
import { toolHandler } from '../kit/handler.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { manifestOf } from '../kit/manifest.ts';
import { verifySignature } from '../kit/verify-signature.ts';
import { errors } from './errors.ts';
import { dataDirFor } from './target.ts';
import { Walkback } from './walkback.ts';

export interface ServeOptions {
  /** Default: a client of the embedded cloud of this machine. */
  walkback?: Walkback;
  /** Templates that are stored with the tools. */
  definitions?: readonly Json[];
  /** Where tombstones are kept, and the port. Default: in the data directory, by the names of the tools. */
  directory?: string;
  /** Default: any free one, and the same one again the next time. */
  port?: number;
  /**
   * Is told why a call ended without an answer. Default: stderr. The caller, and the model behind it, hear only that it failed:
   * the reason may hold what is yours.
   */
  onError?: (error: unknown) => void;
  /** Deployed: the URL as the catalog has it, with its key. Then the catalog is the operator's. */
  deployed?: { url: string; key: string };
}

export interface ServedTools {
  url: string;
  /** What `walkback catalog put` takes. */
  catalog: { tools: ReturnType<typeof manifestOf>[]; definitions: readonly Json[] };
  close(): Promise<void>;
}

const tellStderr = (error: unknown): void => {
  process.stderr.write(`serveTools: a call failed, and it is not known how far it came: ${inspect(error)}\n`);
};

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Port ${port} is taken, perhaps by another process that serves these tools: ${cause.message}`;
      reject(new errors.ConfigurationError(message, { cause }));
    });
    server.listen(port, '127.0.0.1', () => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
      resolve((server.address() as AddressInfo).port);
    });
  });

/** A stored version of a tool names its URL and never changes, so the port stays. */
const listenAsBefore = async (
  server: Server,
  directory: string,
  port: number | undefined,
): Promise<number> => {
  const path = join(directory, 'port');
  const before = Number(await readFile(path, 'utf8').catch(() => '0'));
  const taken = await listen(server, port ?? before);
  if (taken !== before) await writeFile(path, `${taken}\n`);
  return taken;
};

/** The key that the embedded cloud signs calls to this URL with. */
const localKey = async (walkback: Walkback, url: string): Promise<string> => {
  const { environment, sandboxes } = await walkback.connection();
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  if (sandboxes === undefined || secretAccessKey === undefined) {
    throw new errors.InvalidInput('On AWS give `deployed`: the URL of the tools, and its key.');
  }
  const { httpToolSecret } = await import('../local/credentials.ts');
  return endpointKey(httpToolSecret(secretAccessKey), url);
};

/** That of the cloud that calls: in another one the same ids are other sagas. */
const dataDirOf = async (walkback: Walkback, deployed: ServeOptions['deployed']): Promise<string> => {
  const { dataDir } = deployed === undefined ? await walkback.connection() : {};
  return dataDir ?? dataDirFor(undefined, process.env, process.cwd());
};

/** Serves the tools until it is closed. Calls without a valid signature are refused. */
export const serveTools = async (
  tools: readonly Tool[],
  options: ServeOptions = {},
): Promise<ServedTools> => {
  const { deployed, definitions = [], walkback = new Walkback(), onError = tellStderr } = options;
  const names = tools.map(({ definition }) => definition.name).toSorted();
  const directory =
    options.directory ?? join(await dataDirOf(walkback, deployed), 'tools', names.join('+').slice(0, 200));
  await makeDirectory(directory, 0o700);
  const handle = toolHandler(tools, { tombstones: await openFileTombstones(join(directory, 'tombstones')) });

  const place = { url: '', key: '' };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    if (place.key === '' || !verifySignature({ url: place.url, headers: request.headers, body }, place.key)) {
      response.writeHead(401).end();
      return;
    }
    response.end(JSON.stringify(await handle(JSON.parse(body))));
  };
  const server = createServer((request, response) => {
    // A 500 says that it is not known how far the call came: the saga asks the probe.
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end();
      onError(error);
    });
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
  const port = await listenAsBefore(server, directory, options.port);
  const url = deployed?.url ?? `http://127.0.0.1:${port}/tools`;
  const catalog = { tools: tools.map((tool) => manifestOf(tool, { endpoint: url })), definitions };
  try {
    Object.assign(place, { url, key: deployed?.key ?? (await localKey(walkback, url)) });
    // The manifests are data; their types have no index signature.
    if (deployed === undefined) await walkback.tools.put(JSON.parse(JSON.stringify(catalog)));
  } catch (error) {
    await close();
    throw error;
  }
  return { url, catalog, close };
};
