/** What came back from an HTTP tool, and what it means (S2). */
import type { Outcome } from '../decide/saga-events.ts';
import { MAX_ANSWER_BYTES, readAnswer } from './tool-protocol.ts';

export type HttpReply =
  /** No byte of the request left: no such host, or nobody listens there. */
  | { kind: 'unsent'; message: string }
  | { kind: 'lost'; message: string }
  /** `body`: null when it is longer than an answer may be. */
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
  if (body !== null) return readAnswer(parseJson(body));
  const message = `The tool's answer is larger than ${MAX_ANSWER_BYTES} bytes.`;
  return { outcome: 'unknown', error: { name: 'ResultTooLarge', message }, answered: true };
};

/** They end a request without saying how far it came: its time was over, another one is under way, its caller had gone. */
const OPEN = [408, 409, 425, 499];

/**
 * What an endpoint says of the request itself, once it has read it: it will say so again. Any other 4xx may be somebody else's word
 * (a gateway, a deployment in progress, a key that is being rotated): the tool was not asked.
 */
const OF_THE_REQUEST = [400, 410, 413, 414, 415, 422, 431, 451];

/** `Retry-After` in seconds: a number of them, or a date. */
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
  // A redirect is not followed and says nothing about what happened; a 5xx neither.
  if (status < 400 || status >= 500) return { outcome: 'unknown', error, answered: true };
  return OF_THE_REQUEST.includes(status)
    ? { outcome: 'rejected', error, retryable: false }
    : { outcome: 'rejected', error, retryable: false, reached: false };
};
