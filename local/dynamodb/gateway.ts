/**
 * The door to dynoxide, which itself lets in any request with any signature, also one that a website makes a
 * browser send (it allows every origin). Here a request must carry the signature of this cloud's key.
 */
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type Endpoint, listen } from '../listen.ts';
import { type AwsCredentials, createVerifier, type Refusal } from '../sigv4.ts';

/** DynamoDB's own limit for a request. */
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;

const PASSED_BACK = ['content-type', 'content-length', 'x-amz-crc32', 'x-amzn-requestid'];

const readBody = async (incoming: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    sizeBytes += chunk.byteLength;
    // Read to its end all the same: a caller that still writes would see a broken connection, not the answer.
    if (sizeBytes <= MAX_REQUEST_BYTES) chunks.push(chunk);
  }
  return sizeBytes > MAX_REQUEST_BYTES ? undefined : Buffer.concat(chunks);
};

const refuse = (response: ServerResponse, code: string, message: string): void => {
  const body = JSON.stringify({ __type: `com.amazon.coral.service#${code}`, message });
  response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
};

const joinHeaders = (incoming: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values]) => [name, values?.join(',') ?? '']),
  );

const forward = (
  backend: URL,
  agent: Agent,
  incoming: IncomingMessage,
  body: Buffer,
): Promise<IncomingMessage> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { ...joinHeaders(incoming), 'content-length': String(body.byteLength) };
  request(backend, { method: incoming.method, path: incoming.url, headers, agent })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  return promise;
};

const passBack = (answer: IncomingMessage, response: ServerResponse): void => {
  const headers = PASSED_BACK.map((name) => [name, answer.headers[name]] as const);
  response.writeHead(answer.statusCode ?? 500, Object.fromEntries(headers.filter(([, value]) => value)));
  answer.pipe(response).on('error', () => answer.destroy());
  answer.on('error', () => response.destroy());
};

export const startGateway = async (options: {
  backendUrl: string;
  credentials: AwsCredentials;
  port?: number;
}): Promise<Endpoint> => {
  const backend = new URL(options.backendUrl);
  const agent = new Agent({ keepAlive: true });
  const verify = createVerifier({ credentials: options.credentials, service: 'dynamodb' });

  const check = (incoming: IncomingMessage, body: Buffer): Promise<Refusal | undefined> => {
    const url = new URL(incoming.url ?? '/', backend);
    return verify({
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: joinHeaders(incoming),
      body,
    });
  };
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(incoming);
    if (body === undefined) return refuse(response, 'SerializationException', 'The request is over 16 MB');
    const refusal = await check(incoming, body);
    if (refusal !== undefined) return refuse(response, refusal.code, refusal.message);
    passBack(await forward(backend, agent, incoming, body), response);
  };

  const endpoint = await listen((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  }, options.port);
  return {
    ...endpoint,
    close: async () => {
      await endpoint.close();
      agent.destroy();
    },
  };
};
