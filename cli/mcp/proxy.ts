/**
 * Stands between an MCP client and a server of tools: it holds each `tools/call` until its checkpoint is
 * taken, and passes on everything else unchanged, whatever version of the protocol the two use. The protocol
 * cannot stop a client's loop. So after somebody has rolled the session back, every later call is refused
 * until the client connects again.
 */
import * as z from 'zod';
import type { Guard } from './guard.ts';

const callSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('tools/call'),
  params: z.looseObject({
    name: z.string(),
    arguments: z.unknown().optional(),
    _meta: z.looseObject({ 'claudecode/toolUseId': z.string().optional() }).optional(),
  }),
});
type Call = z.infer<typeof callSchema>;
/** Anything that a server might take for a call. */
const asCallSchema = z.looseObject({ method: z.literal('tools/call') });
const idSchema = z.object({ id: z.union([z.string(), z.number()]) });
const cancelSchema = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

export interface ProxyOptions {
  guard: Guard;
  /** Id of this connection: the client's request ids begin at 1 in each connection. */
  connectionId: string;
  /** Names of tools that change nothing. What a server says about its own tools is not trusted. */
  reads: ReadonlySet<string>;
  toServer: (line: string) => void;
  toClient: (line: string) => void;
}

const refusalOf = (name: string, error: unknown): string => {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `${name} did not run, because there is no checkpoint before it. ${reason}`;
};

/** Takes the lines of the client. */
export const createProxy = (options: ProxyOptions): ((line: string) => void) => {
  const { guard, connectionId, reads, toServer, toClient } = options;
  /** Calls that wait for their checkpoints. */
  const held = new Set<Call>();
  /**
   * How often each id came. A client must not use an id twice. If it does, each is a call of its own, and the
   * server decides what to do with it.
   */
  const timesSeen = new Map<string | number, number>();

  /**
   * The id of the call for its checkpoint. The request id is written as JSON, because 1 and "1" are different
   * in the protocol.
   */
  const ownId = (id: string | number): string => {
    const times = (timesSeen.get(id) ?? 0) + 1;
    timesSeen.set(id, times);
    return `${connectionId}-${JSON.stringify(id)}${times === 1 ? '' : `-${times}`}`;
  };

  const hold = async (line: string, call: Call): Promise<void> => {
    const { id, params } = call;
    const { name, arguments: input, _meta } = params;
    held.add(call);
    let refused: string | undefined;
    try {
      const callId = _meta?.['claudecode/toolUseId'] ?? ownId(id);
      await guard.before({ id: callId, name, input, readOnly: reads.has(name) });
    } catch (error) {
      refused = refusalOf(name, error);
    }
    // The client cancelled the call meanwhile, and waits for no answer.
    if (!held.delete(call)) return;
    if (refused === undefined) toServer(line);
    else {
      const result = { isError: true, content: [{ type: 'text', text: refused }] };
      toClient(JSON.stringify({ jsonrpc: '2.0', id, result }));
    }
  };

  const fail = (id: string | number | null, code: number, message: string): void =>
    toClient(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));

  /** Whether a call of this id was still waiting. */
  const takeBack = (id: string | number): boolean => {
    const meant = [...held].filter((call) => call.id === id);
    for (const call of meant) held.delete(call);
    return meant.length > 0;
  };

  const take = (line: string, message: unknown): void => {
    const call = callSchema.safeParse(message);
    if (call.success) {
      void hold(line, call.data);
      return;
    }
    if (asCallSchema.safeParse(message).success) {
      fail(
        idSchema.safeParse(message).data?.id ?? null,
        -32_602,
        'This is no call of a tool that walkback mcp can read.',
      );
      return;
    }
    const cancel = cancelSchema.safeParse(message);
    if (cancel.success && takeBack(cancel.data.params.requestId)) return;
    toServer(line);
  };

  return (line) => {
    // There may be blank lines between messages. They are not calls.
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // Not passed on: some servers read more than JSON (NaN in Python), so this could be a call.
      fail(null, -32_700, 'walkback mcp passes on JSON only.');
      return;
    }
    // Protocol versions of 2025 send several messages in one line.
    if (Array.isArray(message)) for (const one of message) take(JSON.stringify(one), one);
    else take(line, message);
  };
};
