/** One JSON request of a tool over plain HTTP, and what its failures mean for the outcome (S2). */
import type { ToolCall } from '../../../kit/define-tool.ts';
import { ToolRejected, ToolUncertain } from '../../../kit/outcomes.ts';

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

export interface HttpAnswer {
  method: JsonRequest['method'];
  status: number;
  headers: Headers;
  body: unknown;
}

export interface JsonRequest {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Sends it. An answer that never comes leaves the outcome open, unless nothing was asked to change. */
export const requestJson = async (
  fetch: Fetch,
  request: JsonRequest,
  call: ToolCall,
): Promise<HttpAnswer> => {
  let response: Response;
  let text: string;
  try {
    response = await fetch(request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json', ...request.headers },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal: call.signal,
    });
    text = await response.text();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolUncertain(
      'ConnectionLost',
      `${request.method} ${new URL(request.url).pathname}: ${reason}`,
      { cause },
    );
  }
  const { status, headers } = response;
  return { method: request.method, status, headers, body: text === '' ? null : JSON.parse(text) };
};

/** They end a request without saying how far it came: its time was over, another one is under way, its caller had gone. */
const OPEN = [408, 409, 425, 499];

/** What a status that is not a success means: refused before anything was done, refused for good, or not known. */
export const requireSuccess = (service: string, answer: HttpAnswer): HttpAnswer => {
  const { status } = answer;
  if (status >= 200 && status < 300) return answer;
  const message = `${service} answered ${status}: ${JSON.stringify(answer.body).slice(0, 300)}`;
  const retryAfter = answer.headers.get('retry-after');
  const later = {
    retryable: true,
    ...(/^\d+$/.test(retryAfter ?? '') ? { retryAfterSeconds: Number(retryAfter) } : {}),
  };
  if (status === 429) throw new ToolRejected('Throttled', message, later);
  if (status === 503 && retryAfter !== null) throw new ToolRejected('Unavailable', message, later);
  if (status >= 500) throw new ToolUncertain('ServerError', message, { answered: true });
  if (OPEN.includes(status) && answer.method !== 'GET') throw new ToolUncertain('LeftOpen', message);
  throw new ToolRejected('Refused', message);
};
