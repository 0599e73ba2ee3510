/**
 * Checks AWS Signature Version 4 as S3 does, for signed headers and for presigned URLs. No other part of a
 * request is looked at before this has passed.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import {
  createScope,
  getCanonicalHeaders,
  getCanonicalQuery,
  MAX_PRESIGNED_TTL,
  UNSIGNED_PAYLOAD,
} from '@smithy/signature-v4';
import { S3Error } from './errors.ts';

export interface SignedRequest {
  method: string;
  /** Path as it was sent, still percent-encoded. */
  path: string;
  query: Record<string, string | string[]>;
  /** Names in lower case. */
  headers: Record<string, string>;
}

export interface Signer {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

interface Claim {
  accessKeyId: string;
  scope: string;
  date: string;
  signedHeaders: string[];
  signature: string;
  payloadHash: string;
  query: SignedRequest['query'];
}

const MAX_SKEW_MS = 15 * 60_000;

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? undefined : value;

const queryParameter = (query: SignedRequest['query'], name: string): string => {
  const value = one(query[name]);
  if (value === undefined || value === '')
    throw new S3Error('AuthorizationQueryParametersError', `The query needs exactly one ${name}.`);
  return value;
};

const splitCredential = (credential: string): { accessKeyId: string; scope: string } => {
  const slash = credential.indexOf('/');
  return { accessKeyId: credential.slice(0, slash), scope: credential.slice(slash + 1) };
};

const LONG_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

const parseDate = (date: string): number => {
  const time = LONG_DATE.test(date) ? Date.parse(date.replace(LONG_DATE, '$1-$2-$3T$4:$5:$6Z')) : Number.NaN;
  if (Number.isNaN(time))
    throw new S3Error('AccessDenied', 'The signing date must look like 20250131T235959Z.');
  return time;
};

const headerClaim = (request: SignedRequest, authorization: string): Claim => {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  const payloadHash = request.headers['x-amz-content-sha256'];
  if (match?.[1] === undefined || match[2] === undefined || match[3] === undefined)
    throw new S3Error('AuthorizationHeaderMalformed', 'The Authorization header is not AWS4-HMAC-SHA256.');
  if (payloadHash === undefined)
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256.');
  return {
    ...splitCredential(match[1]),
    date: request.headers['x-amz-date'] ?? '',
    signedHeaders: match[2].split(';'),
    signature: match[3],
    payloadHash,
    query: request.query,
  };
};

const expiresSecondsOf = (request: SignedRequest): number => {
  const seconds = Number(queryParameter(request.query, 'X-Amz-Expires'));
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_PRESIGNED_TTL) return seconds;
  throw new S3Error('AuthorizationQueryParametersError', 'X-Amz-Expires must be 1 to 604800 seconds.');
};

const queryClaim = (request: SignedRequest): Claim => {
  const { 'X-Amz-Signature': _, ...query } = request.query;
  if (queryParameter(request.query, 'X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256')
    throw new S3Error('AuthorizationQueryParametersError', 'X-Amz-Algorithm must be AWS4-HMAC-SHA256.');
  expiresSecondsOf(request);
  return {
    ...splitCredential(queryParameter(request.query, 'X-Amz-Credential')),
    date: queryParameter(request.query, 'X-Amz-Date'),
    signedHeaders: queryParameter(request.query, 'X-Amz-SignedHeaders').split(';'),
    signature: queryParameter(request.query, 'X-Amz-Signature'),
    payloadHash:
      one(request.query['X-Amz-Content-Sha256']) ??
      request.headers['x-amz-content-sha256'] ??
      UNSIGNED_PAYLOAD,
    query,
  };
};

const checkPresignedTime = (request: SignedRequest, claim: Claim, nowMs: number): void => {
  const signedMs = parseDate(claim.date);
  if (nowMs > signedMs + expiresSecondsOf(request) * 1000)
    throw new S3Error('AccessDenied', 'Request has expired.');
  if (signedMs > nowMs + MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not valid yet.');
};

const checkHeaderTime = (claim: Claim, nowMs: number): void => {
  if (Math.abs(nowMs - parseDate(claim.date)) > MAX_SKEW_MS)
    throw new S3Error('RequestTimeTooSkewed', 'The request was signed more than 15 minutes away from now.');
};

/** Somebody else could have added an unsigned header. S3 refuses it where it would have an effect. */
const checkSignedHeaders = (request: SignedRequest, claim: Claim): void => {
  const signed = new Set(claim.signedHeaders);
  const unsigned = Object.keys(request.headers).filter(
    (name) => (name === 'host' || name.startsWith('x-amz-')) && !signed.has(name),
  );
  if (unsigned.length > 0)
    throw new S3Error(
      'AccessDenied',
      `There were headers present in the request which were not signed: ${unsigned.join(', ')}.`,
    );
};

const canonicalRequest = (request: SignedRequest, claim: Claim): string => {
  const signed = {
    method: request.method,
    protocol: 'http:',
    hostname: request.headers['host'] ?? '',
    path: request.path,
    query: claim.query,
    headers: Object.fromEntries(claim.signedHeaders.map((name) => [name, request.headers[name] ?? ''])),
  };
  const headers = getCanonicalHeaders(signed, undefined, new Set(claim.signedHeaders));
  const names = Object.keys(headers).sort();
  return [
    request.method,
    request.path,
    getCanonicalQuery(signed),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    claim.payloadHash,
  ].join('\n');
};

const hmac = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest();

const expectedSignature = (request: SignedRequest, claim: Claim, signer: Signer): Buffer => {
  const hashedRequest = createHash('sha256').update(canonicalRequest(request, claim)).digest('hex');
  const signingKey = claim.scope
    .split('/')
    .reduce<string | Uint8Array>(hmac, `AWS4${signer.secretAccessKey}`);
  return hmac(signingKey, ['AWS4-HMAC-SHA256', claim.date, claim.scope, hashedRequest].join('\n'));
};

const checkScope = (claim: Claim, signer: Signer): void => {
  if (claim.accessKeyId !== signer.accessKeyId)
    throw new S3Error('InvalidAccessKeyId', 'The access key id is not the one this server was started with.');
  if (claim.scope !== createScope(claim.date.slice(0, 8), signer.region, 's3'))
    throw new S3Error(
      'AuthorizationHeaderMalformed',
      `Sign for ${signer.region}/s3, with the date of X-Amz-Date.`,
    );
};

/** Throws an `S3Error` unless the request carries a valid signature of `signer`; answers the signed payload hash. */
export const verifySignature = (
  request: SignedRequest,
  signer: Signer,
  nowMs: number,
): { payloadHash: string } => {
  const authorization = request.headers['authorization'];
  const presigned = request.query['X-Amz-Signature'] !== undefined;
  if (authorization === undefined && !presigned) throw new S3Error('AccessDenied', 'Sign the request.');
  if (authorization !== undefined && presigned)
    throw new S3Error('InvalidArgument', 'Sign by header or by query, not by both.');
  const claim = authorization === undefined ? queryClaim(request) : headerClaim(request, authorization);
  checkScope(claim, signer);
  checkSignedHeaders(request, claim);
  const expected = expectedSignature(request, claim, signer);
  const given = Buffer.from(claim.signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The signature does not match the request; check the secret key.',
    );
  if (presigned) checkPresignedTime(request, claim, nowMs);
  else checkHeaderTime(claim, nowMs);
  return { payloadHash: claim.payloadHash };
};
