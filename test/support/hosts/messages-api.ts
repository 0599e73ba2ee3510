/**
 * A Messages API on loopback whose model plays a script, for hosts that are programs of their own. Requests without the
 * script's tool (titles, summaries) are answered with a word.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import * as z from 'zod';
import type { ScriptedCall } from '../integration-conformance.ts';

const block = z.looseObject({ type: z.string(), text: z.string().optional() });
const request = z.object({
  stream: z.boolean().optional(),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(block)]) })),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
});
type Request = z.infer<typeof request>;

type Content =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

/** What a tool of the script is called by the host, and what it takes. */
export interface ScriptNames {
  edit: string;
  /** The host's own tool for this call. Default: `edit`. */
  editName?(call: ScriptedCall): string;
  /** What the host's own tool takes for this call. Default: the call. */
  editInput?(call: ScriptedCall): object;
  delegate: string;
  /** Of the tool that lets a subagent do what `prompt` says. */
  delegateInput(prompt: string): object;
}

export interface MessagesApi extends AsyncDisposable {
  url: string;
  modelCalls(): number;
  /** All requests to the model, when they came, in Unix milliseconds: those of subagents and titles, too. */
  requestsMs(): readonly number[];
  /** Those of the main agent. */
  mainRequestsMs(): readonly number[];
  /** The last request of the main agent. */
  told(): string;
}

/** Stands in the first message of a subagent, with the call that it is to make. */
const MARK = 'SUBAGENT ';

const hasAsked = ({ messages }: Request): boolean =>
  messages.some(
    ({ role, content }) =>
      role === 'assistant' && Array.isArray(content) && content.some(({ type }) => type === 'tool_use'),
  );

const markIn = ({ messages }: Request): string | undefined => {
  const first = messages.find(({ role }) => role === 'user');
  const texts = typeof first?.content === 'string' ? [first.content] : first?.content.map(({ text }) => text);
  const marked = texts?.find((text) => text?.includes(MARK));
  return marked?.slice(marked.indexOf(MARK) + MARK.length);
};

const streamOf = (content: readonly Content[]): string => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content: [], usage };
  const events: object[] = [{ type: 'message_start', message: start }];
  for (const [index, part] of content.entries()) {
    const delta =
      part.type === 'text'
        ? { type: 'text_delta', text: part.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(part.input) };
    const content_block = part.type === 'text' ? { type: 'text', text: '' } : { ...part, input: {} };
    events.push({ type: 'content_block_start', index, content_block });
    events.push({ type: 'content_block_delta', index, delta }, { type: 'content_block_stop', index });
  }
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  events.push({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage });
  events.push({ type: 'message_stop' });
  return events
    .map((event) => `event: ${String(Reflect.get(event, 'type'))}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
};

export const startMessagesApi = async (
  steps: readonly ScriptedCall[][],
  names: ScriptNames,
): Promise<MessagesApi> => {
  let modelCalls = 0;
  const requestsMs: number[] = [];
  const mainRequestsMs: number[] = [];
  let told = '';
  const use = (call: ScriptedCall): Content =>
    call.tool === 'edit'
      ? {
          type: 'tool_use',
          id: call.id,
          name: names.editName?.(call) ?? names.edit,
          input: names.editInput?.(call) ?? call,
        }
      : {
          type: 'tool_use',
          id: `outer-${call.id}`,
          name: names.delegate,
          input: names.delegateInput(`${MARK}${JSON.stringify({ ...call, tool: 'edit' })}`),
        };
  const done: Content[] = [{ type: 'text', text: 'done' }];

  const answerTo = (asked: Request): Content[] => {
    if (!asked.tools.some(({ name }) => name === names.edit)) return done;
    const marked = markIn(asked);
    if (marked !== undefined) {
      const [line = '{}'] = marked.split('\n');
      return hasAsked(asked) ? done : [use(JSON.parse(line))];
    }
    told = JSON.stringify(asked.messages);
    mainRequestsMs.push(Date.now());
    return steps[modelCalls++]?.map(use) ?? done;
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(incoming.url ?? '/', 'http://loopback').pathname;
    if (incoming.method !== 'POST' || !path.endsWith('/messages')) {
      response.writeHead(path.endsWith('/count_tokens') ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ input_tokens: 1 }));
      return;
    }
    const asked = request.parse(await json(incoming));
    requestsMs.push(Date.now());
    const content = answerTo(asked);
    if (asked.stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(content));
      return;
    }
    const usage = { input_tokens: 1, output_tokens: 1 };
    const said = { id: 'msg_1', type: 'message', role: 'assistant', model: 'scripted', content, usage };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...said, stop_reason: 'end_turn' }));
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    modelCalls: () => modelCalls,
    requestsMs: () => requestsMs,
    mainRequestsMs: () => mainRequestsMs,
    told: () => told,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
