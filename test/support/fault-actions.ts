/** Faults that can happen to one request on its way through a fault proxy. */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export type FaultAction =
  /** Answered by the proxy; the service never sees it. */
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  /** The connection breaks before the service sees it. */
  | { kind: 'drop' }
  /** The service does it, and its answer is lost. */
  | { kind: 'lose-answer' }
  /** The answer breaks off after some bytes of its body. */
  | { kind: 'cut-answer'; afterBytes: number }
  | { kind: 'delay'; ms: number }
  /** Goes through when this has happened. */
  | { kind: 'hold'; until: Promise<unknown> }
  /** The service gets it twice, one after the other; the first answer comes back. */
  | { kind: 'duplicate' }
  /**
   * From this request on nothing goes through or is answered, until the proxy closes: what a killed caller
   * looks like to the service.
   */
  | { kind: 'freeze' };

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'expect']);

/** Names and values in turn, exactly as they came. */
const passHeaders = (message: IncomingMessage): string[] =>
  message.rawHeaders.filter(
    (_, index, raw) => !HOP_BY_HOP.has((raw[index - (index % 2)] ?? '').toLowerCase()),
  );

const readBody = async (message: IncomingMessage): Promise<Buffer> => Buffer.concat(await message.toArray());

/** Sends the incoming request on; the caller writes the body. The Host header stays, because it is signed. */
const open = (target: URL, incoming: IncomingMessage): [ClientRequest, Promise<IncomingMessage>] => {
  const outgoing = httpRequest(new URL(incoming.url ?? '/', target), {
    method: incoming.method,
    headers: passHeaders(incoming),
    agent: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing.on('response', resolve).on('error', reject);
  return [outgoing, promise];
};

const sendBuffered = (target: URL, incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
  const [outgoing, answer] = open(target, incoming);
  outgoing.end(body);
  return answer;
};

const sendStreaming = (target: URL, incoming: IncomingMessage, response: ServerResponse) => {
  const [outgoing, answer] = open(target, incoming);
  incoming.pipe(outgoing);
  // A caller that goes away is seen by the service too.
  response.on('close', () => outgoing.destroy());
  return answer;
};

const passAnswer = (answer: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(answer.statusCode ?? 502, passHeaders(answer));
  response.flushHeaders();
  answer.pipe(response);
  answer.on('error', () => response.destroy()).on('aborted', () => response.destroy());
};

const cutAnswer = async (answer: IncomingMessage, response: ServerResponse, afterBytes: number) => {
  response.writeHead(answer.statusCode ?? 502, passHeaders(answer));
  let left = afterBytes;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    await new Promise<void>((resolve) => {
      response.write(chunk.subarray(0, left), () => resolve());
    });
    left -= chunk.length;
    if (left <= 0) break;
  }
  response.destroy();
};

/** Carries one request out; without an action it is passed on as it comes. */
export const act = async (
  target: URL,
  incoming: IncomingMessage,
  response: ServerResponse,
  action: FaultAction | undefined,
): Promise<void> => {
  switch (action?.kind) {
    case 'status': {
      await readBody(incoming);
      response.writeHead(action.status, action.headers ?? {}).end(action.body ?? '');
      return;
    }
    case 'drop': {
      response.destroy();
      return;
    }
    case 'freeze': {
      incoming.pause();
      return;
    }
    case 'lose-answer': {
      await readBody(await sendBuffered(target, incoming, await readBody(incoming)));
      response.destroy();
      return;
    }
    case 'duplicate': {
      const body = await readBody(incoming);
      const answer = await sendBuffered(target, incoming, body);
      const answerBody = await readBody(answer);
      await readBody(await sendBuffered(target, incoming, body));
      response.writeHead(answer.statusCode ?? 502, passHeaders(answer)).end(answerBody);
      return;
    }
    case 'cut-answer': {
      return cutAnswer(await sendStreaming(target, incoming, response), response, action.afterBytes);
    }
    case 'delay': {
      await delay(action.ms);
      passAnswer(await sendStreaming(target, incoming, response), response);
      return;
    }
    case 'hold': {
      await action.until;
      passAnswer(await sendStreaming(target, incoming, response), response);
      return;
    }
    case undefined: {
      passAnswer(await sendStreaming(target, incoming, response), response);
      return;
    }
  }
};
