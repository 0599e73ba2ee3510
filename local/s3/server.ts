/**
 * The embedded cloud's S3: the wire protocol over a directory, on loopback. It accepts and refuses the same
 * as S3, so the functions use the real SDK with `AWS_ENDPOINT_URL_S3` and path-style addressing.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusalOf } from '../e2b/guard.ts';
import { type Endpoint, listen, pathOf, type ServiceAddress } from '../listen.ts';
import { tellFault } from '../tell-fault.ts';
import { S3Error } from './errors.ts';
import { operationOf, sendXml } from './operations.ts';
import { parseRequest } from './request.ts';
import { verifySignature } from './signature.ts';
import { type ObjectStore, openObjectStore } from './store.ts';

export interface S3Options {
  /** Created when missing; holds every bucket. */
  dataDir: string;
  place?: ServiceAddress;
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
}

const sendError = (incoming: IncomingMessage, response: ServerResponse, error: S3Error): void => {
  if (incoming.method === 'HEAD') {
    response.writeHead(error.status, { 'content-length': 0 }).end();
    return;
  }
  sendXml(response, error.status, 'Error', {
    Code: error.code,
    Message: error.message,
    Resource: incoming.url?.split('?')[0],
    RequestId: String(response.getHeader('x-amz-request-id')),
  });
};

/**
 * Answers a failure. If the answer has begun, the connection is cut instead, so that nobody takes it for
 * complete.
 */
const fail = (incoming: IncomingMessage, response: ServerResponse, cause: unknown): void => {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error =
    cause instanceof S3Error ? cause : new S3Error('InternalError', 'The local S3 failed.', { cause });
  if (error.code === 'InternalError') tellFault('local S3', cause);
  sendError(incoming, response, error);
  // The rest of the request is read and discarded. Otherwise the client would never read the answer.
  incoming.resume();
};

/**
 * The protocol without a socket, so that tests can put something in between. Resolves when the exchange is
 * over.
 */
export const createS3Handler = (
  store: ObjectStore,
  { credentials, region }: Pick<S3Options, 'credentials' | 'region'>,
  below = '',
) => {
  const signer = { ...credentials, region };
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      response.setHeader('x-amz-request-id', randomUUID());
      const request = parseRequest(incoming, below);
      const { payloadHash } = verifySignature(request, signer, Date.now());
      await operationOf(request)({ request, payloadHash, incoming, response, store });
    } catch (error) {
      fail(incoming, response, error);
    }
  };
};

export const startS3 = async (options: S3Options): Promise<Endpoint> => {
  const { place = 0 } = options;
  const starting = Promise.withResolvers<ReturnType<typeof createS3Handler>>();
  const exchanges = new Set<Promise<void>>();
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    const refused = refusalOf(incoming.headers);
    if (refused !== undefined) {
      sendError(incoming, response, new S3Error('AccessDenied', refused));
      return;
    }
    const exchange = starting.promise
      .then((handle) => handle(incoming, response))
      .finally(() => exchanges.delete(exchange));
    exchanges.add(exchange);
  };
  // The port is taken first. If another server has it, that server may own the directory too, and nothing
  // there is touched.
  const endpoint = await listen(listener, place, { asksForBody: true });
  const store = await openObjectStore(options.dataDir).catch(async (error: unknown) => {
    await endpoint.close();
    throw error;
  });
  starting.resolve(createS3Handler(store, options, pathOf(place)));

  const stop = async (): Promise<void> => {
    await endpoint.close();
    await Promise.all(exchanges);
  };
  let stopped: Promise<void> | undefined;
  return { ...endpoint, close: () => (stopped ??= stop()) };
};
