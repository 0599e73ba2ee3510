/**
 * What a caller says about a checkpoint's message and tool, cut to the size that is kept. The caller has
 * redacted it. Pure.
 */
import type { CheckpointInput } from '../../../contract/checkpoint-inputs.ts';
import { clip, clipUtf8 } from '../../shared/clip.ts';
import type { CalledTool, Checkpoint, SaidMessage } from '../model.ts';

/** Limit for a message's text and title together, and for a tool's input. */
export const MAX_SAID_BYTES = 16 * 1024;
const MAX_TITLE = 256;
const MAX_NAME = 256;

/** Cuts to at most this many bytes of UTF-8. Each character has at least one byte. */
const cutBytes = (text: string, maxBytes: number): string =>
  clipUtf8(Buffer.from(clip(text, maxBytes), 'utf8'), maxBytes).toString('utf8');

const oneLine = (text: string, max: number): string => {
  const line = text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
  return line.length <= max ? line : `${clip(line, max - 1)}…`;
};

const firstLine = (text: string): string =>
  text
    .trimStart()
    .slice(0, 4 * MAX_TITLE)
    .split(/[\r\n]/, 1)[0] ?? '';

const cutText = (text: string): { text: string; isCut: boolean } => {
  const whole = text.toWellFormed();
  const kept = cutBytes(whole, MAX_SAID_BYTES);
  return { text: kept, isCut: kept.length < whole.length };
};

/** Without a title, the first line of the text becomes the title. */
export const keptMessage = ({ role, title, text }: NonNullable<CheckpointInput['message']>): SaidMessage => {
  const line = oneLine(title ?? firstLine(text ?? ''), MAX_TITLE);
  const cut = text === undefined ? undefined : cutText(text);
  return {
    role: oneLine(role, 64),
    ...(line !== '' && { title: line }),
    ...(cut && { text: cut.text }),
    ...(cut?.isCut && { isCut: true }),
  };
};

/**
 * What was said about a message with the checkpoint just before its own first one. When the turn was cut, it
 * is said nowhere else.
 */
export const saidBefore = (
  parent: Pick<Checkpoint, 'messageId' | 'forMessageId' | 'content'> | undefined,
  messageId: string | null,
): SaidMessage | undefined =>
  parent?.forMessageId === messageId && parent?.messageId !== messageId
    ? parent?.content?.forMessage
    : undefined;

/** The input as text: a string as it is, anything else as JSON. */
export const keptTool = ({ name, input }: NonNullable<CheckpointInput['tool']>): CalledTool => {
  const text = input === undefined ? undefined : typeof input === 'string' ? input : JSON.stringify(input);
  const cut = text === undefined ? undefined : cutText(text);
  return {
    name: oneLine(name, MAX_NAME),
    ...(cut && { input: cut.text }),
    ...(cut?.isCut && { isCut: true }),
  };
};
