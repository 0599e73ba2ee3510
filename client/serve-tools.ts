/**
 * Serves tools made with the kit over HTTP: the server, the signature, tombstones that last, and the catalog.
 * On this machine one line is enough; deployed, give the public URL and its key.
 *
 * A stored version of a tool names its URL and never changes, and sagas are pinned to it. So a version that
 * the catalog has on this machine is served at its stored port, and what is kept about a tool does not depend
 * on the tools beside it.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Json } from '../contract/json.ts';
import { endpointKey } from '../core/saga/tools/http-signature.ts';
import type { Tool } from '../kit/define-tool.ts';
import { openFileTombstones } from '../kit/file-tombstones.ts';
import { toolHandler } from '../kit/handler.ts';
import { heard } from '../kit/heard.ts';
import { makeDirectory } from '../kit/make-directory.ts';
import { manifestOf } from '../kit/manifest.ts';
import { errors } from './errors.ts';
import { requireFields, requireOnly } from './given.ts';
import { type ServedPort, type Serving, servePort } from './serve-port.ts';
import { dataDirFor } from './target.ts';
import { Walkback } from './walkback.ts';

export interface ServeOptions {
  /** Default: a client of the embedded cloud of this machine. */
  walkback?: Walkback;
  /** Templates that are stored together with the tools. */
  definitions?: readonly Json[];
  /** Where tombstones are kept, and the port. Default: in the data directory, one directory for each tool. */
  directory?: string;
  /**
   * Default: any free port, and the same one again next time. A version of a tool that the catalog has on
   * another port of this machine is served there, whatever is served beside it.
   */
  port?: number;
  /**
   * Called with the reason why a call failed: what a tool threw, and what kept the server from answering.
   * Default: stderr. The caller, its ledger and the model behind it get only the name of the error, because
   * the reason may hold secrets of yours. A tool that wants to tell them something throws `ToolRejected` or
   * `ToolUncertain`: its message goes to them, and not here.
   */
  onError?: (error: unknown) => void;
  /** Deployed: the URL as the catalog has it, with its key. The catalog is then the operator's responsibility. */
  deployed?: { url: string; key: string };
}

export interface ServedTools {
  /** URL for tools that are new in the catalog. That of each tool is in `catalog`. */
  url: string;
  /** The input for `walkback catalog put`. */
  catalog: { tools: ReturnType<typeof manifestOf>[]; definitions: readonly Json[] };
  close(): Promise<void>;
}

const tellStderr = (error: unknown): void => {
  process.stderr.write(`serveTools: a call failed: ${inspect(error)}\n`);
};

/** The keys with which the embedded cloud signs calls. */
const localKeys = async (walkback: Walkback): Promise<Serving['keyOf']> => {
  const { environment, sandboxes } = await walkback.connection();
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  if (sandboxes === undefined || secretAccessKey === undefined) {
    throw new errors.InvalidInput('On AWS give `deployed`: the URL of the tools, and its key.');
  }
  const { httpToolSecret } = await import('../local/credentials.ts');
  return (url) => endpointKey(httpToolSecret(secretAccessKey), url);
};

/** The data directory of the calling cloud: in another cloud, the same ids belong to other sagas. */
const dataDirOf = async (walkback: Walkback, deployed: ServeOptions['deployed']): Promise<string> => {
  const { dataDir } = deployed === undefined ? await walkback.connection() : {};
  return dataDir ?? dataDirFor(undefined, process.env, process.cwd());
};

const localUrl = (port: number): string => `http://127.0.0.1:${port}/tools`;
const LOCAL_URL = /^http:\/\/127\.0\.0\.1:(\d+)\/tools$/;

const versionOf = ({ name, version }: { name: string; version: string }): string => `${name}@${version}`;

/** The ports at which the catalog has these tools on this machine. */
const storedPorts = async (walkback: Walkback, tools: readonly Tool[]): Promise<Map<string, number>> => {
  const served = new Set(tools.map(({ definition }) => versionOf(definition)));
  const { tools: stored } = await walkback.tools.list();
  return new Map(
    stored.flatMap((tool) => {
      const [, port] = LOCAL_URL.exec(tool.endpoint ?? '') ?? [];
      return port === undefined || !served.has(versionOf(tool))
        ? []
        : [[versionOf(tool), Number(port)] as const];
    }),
  );
};

const readPort = async (directory: string): Promise<number> =>
  Number(await readFile(join(directory, 'port'), 'utf8').catch(() => '0'));

const toolIn = (request: unknown): unknown =>
  typeof request === 'object' && request !== null ? Reflect.get(request, 'tool') : undefined;

/** Each tool keeps its tombstones in a directory of its own. */
const handlerFor = async (
  tools: readonly Tool[],
  directoryOf: (name: string) => string,
  onError: Serving['onError'],
): Promise<Serving['handle']> => {
  const handlers = new Map<unknown, Serving['handle']>();
  for (const { definition } of tools) {
    const tombstones = await openFileTombstones(join(directoryOf(definition.name), 'tombstones'));
    handlers.set(definition.name, toolHandler(tools, { tombstones, onError }));
  }
  // Any handler answers that a tool is not served here.
  const [other] = handlers.values();
  return async (request) => {
    const handle = handlers.get(toolIn(request)) ?? other;
    if (handle === undefined) throw new errors.ConfigurationError('No tool is served here.');
    return handle(request);
  };
};

/** Serves all ports, or none when one cannot be served. */
const servePorts = async (ports: readonly number[], serving: Serving): Promise<ServedPort[]> => {
  const served: ServedPort[] = [];
  try {
    for (const port of ports) served.push(await servePort(port, serving));
    return served;
  } catch (error) {
    await closeAll(served);
    throw error;
  }
};

const closeAll = async (served: readonly ServedPort[]): Promise<void> => {
  await Promise.all(served.map((one) => one.close()));
};

/**
 * Serves the tools until it is closed. Calls without a valid signature are refused. On this machine a version
 * of a tool stays at the port that it was stored with, even when tools are added beside it or taken away.
 * Tools that were served separately are served at all their ports. Two processes cannot serve the same port:
 * this is a `ConfigurationError`.
 */
export const serveTools = async (
  tools: readonly Tool[],
  options: ServeOptions = {},
): Promise<ServedTools> => {
  requireFields('serveTools', { tools }, { tools: 'tools' });
  requireOnly('serveTools', options, {
    'walkback?': 'object',
    'port?': 'number',
    'directory?': 'text',
    'definitions?': 'list',
    'onError?': 'function',
    'deployed?': 'object',
  });
  const { deployed, definitions = [], walkback = new Walkback() } = options;
  const onError = heard(options.onError ?? tellStderr);
  const keyOf = deployed === undefined ? await localKeys(walkback) : () => deployed.key;
  const stored = deployed === undefined ? await storedPorts(walkback, tools) : new Map<string, number>();

  const kept = options.directory ?? join(await dataDirOf(walkback, deployed), 'tools');
  const directoryOf = (name: string): string => options.directory ?? join(kept, name);
  const directories = [...new Set(tools.map(({ definition }) => directoryOf(definition.name)))].toSorted();
  for (const directory of directories) await makeDirectory(directory, 0o700);
  const before = (await Promise.all(directories.map(readPort))).find((port) => port > 0);

  const [firstStored] = stored.values();
  const wanted = options.port ?? firstStored ?? before ?? 0;
  const urlOf = (port: number): string => deployed?.url ?? localUrl(port);
  const handle = await handlerFor(tools, directoryOf, onError);
  const served = await servePorts([...new Set([wanted, ...stored.values()])], {
    handle,
    urlOf,
    keyOf,
    onError,
  });
  const port = served[0]?.port ?? wanted;
  const endpointOf = ({ definition }: Tool): string => urlOf(stored.get(versionOf(definition)) ?? port);
  const catalog = {
    tools: tools.map((tool) => manifestOf(tool, { endpoint: endpointOf(tool) })),
    definitions,
  };
  try {
    for (const directory of directories) await writeFile(join(directory, 'port'), `${port}\n`);
    // The manifests are data; their types have no index signature.
    if (deployed === undefined) await walkback.tools.put(JSON.parse(JSON.stringify(catalog)));
  } catch (error) {
    await closeAll(served);
    throw error;
  }
  return { url: urlOf(port), catalog, close: () => closeAll(served) };
};
