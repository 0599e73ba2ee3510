/** An agent's loop as one finds it: a model, tools, and a conversation. Nothing in it knows of Walkback. */

interface Call {
  id: string;
  name: string;
  input: unknown;
}

type Message =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; calls: Call[] }
  | { role: 'tool'; id: string; output: unknown };

export type Model = (messages: readonly Message[]) => Promise<{ text: string; calls: Call[] }>;

export type Tools = Record<
  string,
  { execute(input: unknown, options?: { toolCallId?: string }): Promise<unknown> }
>;

const outputOf = async (tools: Tools, { id, name, input }: Call): Promise<Message> => {
  try {
    return { role: 'tool', id, output: await tools[name]?.execute(input, { toolCallId: id }) };
  } catch (error) {
    return { role: 'tool', id, output: `failed: ${String(error)}` };
  }
};

export const converse = async (model: Model, tools: Tools, text: string): Promise<string> => {
  const messages: Message[] = [{ role: 'user', text }];
  for (;;) {
    const reply = await model(messages);
    messages.push({ role: 'assistant', ...reply });
    if (reply.calls.length === 0) return reply.text;
    messages.push(...(await Promise.all(reply.calls.map((call) => outputOf(tools, call)))));
  }
};
