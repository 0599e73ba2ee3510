/**
 * What a checkpoint is told about its message and tool: texts that the client's user has redacted, not longer
 * than is kept.
 */
import type { RequestOf } from '../contract/invoke.ts';
import type { ToolCall } from './tool-call.ts';

/** Changes each text (of messages, and of tools' inputs) before it is sent. False: no text is sent. */
export type Redact = ((text: string) => string) | false;

/** A message as a host knows it. */
export interface MessageText {
  /** Default `user`. */
  role?: string;
  /** One line. Default: the first line of the text. */
  title?: string;
  text?: string;
}

type Said = Pick<RequestOf<'checkpoint'>, 'message' | 'tool'>;

/** Twice what is kept in the worst case. The function cuts by bytes, and marks the cut. */
const MOST = 32 * 1024;

/** Undefined: not to be sent. If the redaction fails, the text is not sent, and the tool runs all the same. */
const sendable = (text: string | undefined, redact: Redact): string | undefined => {
  if (text === undefined || redact === false) return undefined;
  try {
    return redact(text).slice(0, MOST);
  } catch {
    return undefined;
  }
};

/** As text, because not every value of a host is JSON. */
const inputText = (input: unknown): string | undefined => {
  if (typeof input === 'string') return input;
  try {
    return JSON.stringify(input);
  } catch {
    return undefined;
  }
};

export const saidMessage = (given: MessageText | undefined, redact: Redact): Pick<Said, 'message'> => {
  const text = sendable(given?.text, redact);
  const title = sendable(given?.title, redact);
  if (text === undefined && title === undefined) return {};
  const { role } = given ?? {};
  return {
    message: {
      role: role === undefined || role === '' ? 'user' : role,
      ...(title !== undefined && { title }),
      ...(text !== undefined && { text }),
    },
  };
};

export const saidTool = (
  { name, input }: Pick<ToolCall, 'name' | 'input'>,
  redact: Redact,
): Pick<Said, 'tool'> => {
  if (name === '') return {};
  const text = sendable(inputText(input), redact);
  return { tool: { name, ...(text !== undefined && { input: text }) } };
};
