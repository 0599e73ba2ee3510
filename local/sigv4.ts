/** Checks the AWS signature of a request, by running the SDK's own signer again over what arrived. */
import { createHash, createHmac, type Hash, type Hmac, timingSafeEqual } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SignedRequest {
  method: string;
  /** Path as it was sent, without the query. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** The signed parts of a request, as they were sent. */
export const signedRequest = (request: Request, body: Uint8Array): SignedRequest => {
  const { pathname, searchParams } = new URL(request.url);
  const headers = Object.fromEntries(request.headers);
  return { method: request.method, path: pathname, query: searchParams, headers, body };
};

/** Why a request is refused, in the services' own words. */
export interface Refusal {
  code: 'MissingAuthenticationTokenException' | 'UnrecognizedClientException' | 'InvalidSignatureException';
  message: string;
}

const MAX_SKEW_MS = 15 * 60_000;
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request,\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/;

type HashInput = string | ArrayBuffer | ArrayBufferView;

const bytes = (data: HashInput): Uint8Array =>
  typeof data === 'string'
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data);

/** SHA-256, or HMAC-SHA-256 with a secret. A class, because the signer asks for a constructor. */
export class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: HashInput) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret));
  }

  update(chunk: HashInput): void {
    this.#hash.update(bytes(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return new Uint8Array(this.#hash.digest());
  }
}

const parseAmzDate = (text: string | undefined): Date | undefined => {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '');
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
};

const queryBag = (query: URLSearchParams): Record<string, string | string[]> =>
  Object.fromEntries([...new Set(query.keys())].map((key) => [key, query.getAll(key)]));

const sameText = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));

const invalid = (message: string): Refusal => ({ code: 'InvalidSignatureException', message });

/** Answers what is wrong with the signature of a request to one service, or undefined when it is right. */
export const createVerifier = (options: {
  credentials: AwsCredentials;
  service: string;
  now?: () => Date;
}) => {
  const { credentials, service, now = () => new Date() } = options;

  const expectedSignature = async (request: SignedRequest, region: string, signed: string[], date: Date) => {
    const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false });
    const again = await signer.sign(
      {
        method: request.method,
        protocol: 'http:',
        hostname: request.headers['host'] ?? '',
        path: request.path,
        query: queryBag(request.query),
        headers: Object.fromEntries(signed.map((name) => [name, request.headers[name] ?? ''])),
        body: request.body,
      },
      { signingDate: date, signableHeaders: new Set(signed) },
    );
    return AUTHORIZATION.exec(again.headers['authorization'] ?? '')?.[6] ?? '';
  };

  return async (request: SignedRequest): Promise<Refusal | undefined> => {
    const header = request.headers['authorization'];
    if (header === undefined) {
      return { code: 'MissingAuthenticationTokenException', message: 'The request is not signed' };
    }
    const [, keyId, day, region, signedService, signedHeaders, signature] = AUTHORIZATION.exec(header) ?? [];
    const date = parseAmzDate(request.headers['x-amz-date']);
    if (!keyId || !day || !region || !signedHeaders || !signature || date === undefined) {
      return invalid('The Authorization or X-Amz-Date header is malformed');
    }
    if (keyId !== credentials.accessKeyId) {
      return { code: 'UnrecognizedClientException', message: 'The access key is not one of this cloud' };
    }
    if (signedService !== service)
      return invalid(`The request is signed for ${signedService}, not ${service}`);
    const signed = signedHeaders.split(';');
    if (!signed.includes('host')) return invalid('The host header must be signed');
    if (Math.abs(now().getTime() - date.getTime()) > MAX_SKEW_MS) return invalid('Signature expired');
    const claimed = request.headers['x-amz-content-sha256'];
    if (claimed !== undefined && claimed !== createHash('sha256').update(request.body).digest('hex')) {
      return invalid('x-amz-content-sha256 is not the hash of the body');
    }
    return sameText(signature, await expectedSignature(request, region, signed, date))
      ? undefined
      : invalid('The request signature does not match');
  };
};
