/** The words of one checkpoint: what was said, what is run after it, and which files changed before it. Pure. */
import { clip } from '../../shared/clip.ts';
import { readChangedFiles, readSaid, type SaidTexts } from '../content/content-object.ts';
import type { Checkpoint, CheckpointContent, SaidMessage } from '../model.ts';

/** Of a message's text and of a tool's input. What comes after these characters is not found. */
const MOST_TEXT = 1_000;
/** Characters of the paths of one checkpoint together. */
const MOST_PATHS = 4_000;

export interface SaidWords {
  role: string;
  title?: string;
  text?: string;
}

export interface WordEntry
  extends Pick<Checkpoint, 'seq' | 'checkpointId' | 'parentSeq' | 'epoch' | 'sandboxId' | 'reason'> {
  at: string;
  /** Unix seconds: when the checkpoint expires, and its words with it. */
  until: number;
  /** The message whose work the checkpoint holds. */
  messageId: string | null;
  message?: SaidWords;
  /** The message of the call that it was taken before, when that is another one. */
  forMessageId?: string;
  forMessage?: SaidWords;
  /** The call that it was taken before. */
  tool?: { name: string; input?: string };
  /** Repository and path of the files that changed since the checkpoint before. */
  paths?: string[];
  /** There were more words, which are not kept. */
  isCut?: true;
}

const said = ({ role, title }: SaidMessage, text: string | undefined): SaidWords => ({
  role,
  ...(title !== undefined && { title }),
  // A text of one line is its title.
  ...(text !== undefined && text.trim() !== title && { text: clip(text, MOST_TEXT) }),
});

const textsOf = (content: CheckpointContent, object: Uint8Array | undefined): SaidTexts => {
  const { message, forMessage, tool } = content;
  if (content.said !== undefined) return object === undefined ? {} : readSaid(object, content.said);
  return {
    ...(message?.text !== undefined && { text: message.text }),
    ...(forMessage?.text !== undefined && { forText: forMessage.text }),
    ...(tool?.input !== undefined && { input: tool.input }),
  };
};

const pathsOf = ({ changes = [] }: CheckpointContent, object: Uint8Array) => {
  let room = MOST_PATHS;
  const paths = changes.flatMap(({ path, part }) =>
    part === undefined
      ? []
      : readChangedFiles(object, part).map((file) => (path === '.' ? file.path : `${path}/${file.path}`)),
  );
  const over = paths.findIndex((path) => (room -= path.length) < 0);
  return {
    isCut: over !== -1,
    paths: paths.slice(0, over === -1 ? paths.length : over).map((path) => path.toWellFormed()),
  };
};

/** Whether the words are also in the checkpoint's object. */
export const needsObject = ({ content }: Pick<Checkpoint, 'content'>): boolean =>
  content?.object !== undefined &&
  (content.said !== undefined || (content.changes ?? []).some(({ part }) => part !== undefined));

/** `object`: the checkpoint's content; without it, only what its item has is found. */
export const wordEntry = (checkpoint: Checkpoint, object: Uint8Array | undefined): WordEntry => {
  const { seq, checkpointId, parentSeq, epoch, sandboxId, reason, messageId, forMessageId } = checkpoint;
  const { content = {} } = checkpoint;
  const { message, forMessage, tool } = content;
  const { text, forText, input } = textsOf(content, object);
  const { paths, isCut } = object === undefined ? { paths: [], isCut: false } : pathsOf(content, object);
  const isLong = [text, forText, input].some((one) => one !== undefined && one.length > MOST_TEXT);
  return {
    seq,
    checkpointId,
    parentSeq,
    epoch,
    sandboxId,
    reason,
    messageId,
    at: checkpoint.createdAt,
    until: checkpoint.expiresAt,
    ...(message && { message: said(message, text) }),
    ...(forMessageId !== undefined && { forMessageId }),
    ...(forMessage && { forMessage: said(forMessage, forText) }),
    ...(tool && {
      tool: { name: tool.name, ...(input !== undefined && { input: clip(input, MOST_TEXT) }) },
    }),
    ...(paths.length > 0 && { paths }),
    ...((isCut || isLong) && { isCut: true as const }),
  };
};
