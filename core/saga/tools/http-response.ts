/** Interprets the reply of an HTTP tool (S2). */
import type { Outcome } from '../decide/saga-events.ts';
import { MAX_RESPONSE_BYTES, readToolResponse } from './tool-protocol.ts';

export type HttpReply =
  /** No byte of the request was sent: there is no such host, or nothing listens there. */
  | { kind: 'unsent'; message: string }
  | { kind: 'lost'; message: string }
  /** `body`: null when it exceeds the size limit. */
  | {
      kind: 'answered';
      status: number;
      /** The header of this name. */
      retryAfter?: string | undefined;
      body: string | null;
    };

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readBody = (body: string | null): Outcome => {
  if (body !== null) return readToolResponse(parseJson(body));
  const message = `The tool's answer is larger than ${MAX_RESPONSE_BYTES} bytes.`;
  return { outcome: 'unknown', error: { name: 'ResultTooLarge', message }, answered: true };
};

/**
 * These statuses end a request without saying how far it came: it timed out, another one is under way, or its
 * caller had gone.
 */
const OPEN = [408, 409, 425, 499];

/**
 * Statuses that judge the request itself after reading it, so the endpoint would repeat them. Any other 4xx
 * may come from something else (a gateway, a deployment in progress, a key being rotated), and then the
 * tool was not asked.
 */
const OF_THE_REQUEST = [400, 410, 413, 414, 415, 422, 431, 451];

/** `Retry-After` in seconds: either a number or a date. */
const secondsOf = (header: string | undefined, nowMs: number): { retryAfterSeconds?: number } => {
  if (header === undefined) return {};
  const seconds = /^\d{1,9}$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(0, Math.ceil(seconds)) } : {};
};

export const readReply = (reply: HttpReply, nowMs: number): Outcome => {
  if (reply.kind === 'unsent') {
    const error = { name: 'ToolUnavailable', message: reply.message };
    return { outcome: 'rejected', error, retryable: true, reached: false };
  }
  if (reply.kind === 'lost') {
    return { outcome: 'unknown', error: { name: 'ConnectionLost', message: reply.message }, answered: false };
  }
  const { status, retryAfter } = reply;
  if (status >= 200 && status < 300) return readBody(reply.body);
  const error = { name: `Http${status}`, message: `The tool's endpoint answered with status ${status}.` };
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    return { outcome: 'rejected', error, retryable: true, reached: false, ...secondsOf(retryAfter, nowMs) };
  }
  if (OPEN.includes(status)) return { outcome: 'unknown', error, answered: false };
  // A redirect is not followed and does not tell what happened. Neither does a 5xx.
  if (status < 400 || status >= 500) return { outcome: 'unknown', error, answered: true };
  return OF_THE_REQUEST.includes(status)
    ? { outcome: 'rejected', error, retryable: false }
    : { outcome: 'rejected', error, retryable: false, reached: false };
};
