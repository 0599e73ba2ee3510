/** What came back from an HTTP tool, and what it means (S2). */
import type { Outcome } from '../decide/saga-events.ts';
import { MAX_ANSWER_BYTES, readAnswer } from './tool-protocol.ts';

export type HttpReply =
  /** No byte of the request left: no such host, or nobody listens there. */
  | { kind: 'unsent'; message: string }
  | { kind: 'lost'; message: string }
  /** `body`: null when it is longer than an answer may be. */
  | { kind: 'answered'; status: number; retryAfter: boolean; body: string | null };

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

export const readReply = (reply: HttpReply): Outcome => {
  if (reply.kind === 'unsent') {
    const error = { name: 'ToolUnavailable', message: reply.message };
    return { outcome: 'rejected', error, retryable: true };
  }
  if (reply.kind === 'lost') {
    return { outcome: 'unknown', error: { name: 'ConnectionLost', message: reply.message }, answered: false };
  }
  const { status } = reply;
  if (status >= 200 && status < 300) return readBody(reply.body);
  const error = { name: `Http${status}`, message: `The tool's endpoint answered with status ${status}.` };
  if (status === 429 || (status === 503 && reply.retryAfter)) {
    return { outcome: 'rejected', error, retryable: true };
  }
  if (OPEN.includes(status)) return { outcome: 'unknown', error, answered: false };
  // A redirect is not followed and says nothing about what happened; a 5xx neither.
  return status >= 400 && status < 500
    ? { outcome: 'rejected', error, retryable: false }
    : { outcome: 'unknown', error, answered: true };
};
