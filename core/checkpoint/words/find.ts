/** Finds the messages and calls that have the words, in packed blocks. Pure. */
import type { SearchSessionsAnswer } from '../../../contract/search-sessions.ts';
import { clip } from '../../shared/clip.ts';
import { fitsWords, folded, wordsOf } from '../../shared/fits-words.ts';
import type { WordBlock } from '../ports/words.ts';
import { isWorkOfCallAfter } from '../timeline/whose-work.ts';
import { readLine, unpackLines } from './block.ts';
import type { SaidWords, WordEntry } from './entry.ts';

type FoundMessage = SearchSessionsAnswer['messages'][number];
type FoundCall = SearchSessionsAnswer['calls'][number];

const MOST_INPUT = 300;
const MOST_PATHS = 10;
/** Characters of a text before the word that was found. */
const AROUND = 60;

/** The newest title and role of each message. */
const saidIn = (entries: readonly WordEntry[]) => {
  const said = new Map<string, { title?: string; role?: string }>();
  for (const { messageId, message, forMessageId, forMessage } of entries) {
    if (messageId !== null && message !== undefined) said.set(messageId, message);
    if (forMessageId !== undefined && forMessage !== undefined) said.set(forMessageId, forMessage);
  }
  return said;
};

/**
 * The input of a tool as a person reads it: the values of its JSON. Of one that was cut, which is no JSON any more, the text
 * without the marks that JSON puts before quotes.
 */
const inputText = (input: string | undefined): string | undefined => {
  if (input === undefined || !/^[[{]/.test(input)) return input;
  const texts: string[] = [];
  try {
    JSON.parse(input, (_key, value: unknown) => {
      if (typeof value === 'string' || typeof value === 'number') texts.push(String(value));
      return value;
    });
    return texts.join('\n');
  } catch {
    return input.replaceAll(/\\[nrt]/g, ' ').replaceAll(/\\(.)/g, '$1');
  }
};

/** Where the first of the words is, with what stands around it. */
const excerptOf = (text: string, words: readonly string[]): string => {
  const line = text.normalize('NFC').replaceAll(/\s+/g, ' ');
  const at = Math.min(...words.map((word) => folded(line).indexOf(word)).filter((found) => found !== -1));
  const from = Number.isFinite(at) ? Math.max(0, at - AROUND) : 0;
  const cut = clip(line.slice(from).toWellFormed(), 3 * AROUND);
  return `${from > 0 ? '…' : ''}${cut}${from + cut.length < line.length ? '…' : ''}`;
};

const toolOf = (entry: WordEntry | undefined): Pick<FoundCall, 'tool' | 'input'> =>
  entry?.tool === undefined
    ? {}
    : {
        tool: entry.tool.name,
        ...(entry.tool.input !== undefined && { input: clip(entry.tool.input, MOST_INPUT) }),
      };

/** What one session has, oldest first. */
const foundIn = (sessionId: string, entries: readonly WordEntry[], asked: string) => {
  const fits = fitsWords(asked);
  const words = wordsOf(asked);
  const said = saidIn(entries);
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  const messages = new Map<string, FoundMessage>();
  const calls: FoundCall[] = [];
  /** Calls whose work is in a later checkpoint. They are told with that one. */
  const withWork = new Set<WordEntry>();

  const messageFields = (messageId: string, { at }: WordEntry) => {
    const title = said.get(messageId)?.title;
    return { sessionId, messageId, ...(title !== undefined && { title }), at };
  };
  const lookAt = (entry: WordEntry, messageId: string | null | undefined, text: SaidWords | undefined) => {
    if (messageId === null || messageId === undefined) return;
    if (!fits(messageId, text?.title, text?.text)) return;
    const role = said.get(messageId)?.role;
    const whole = text?.text;
    messages.set(messageId, {
      ...messageFields(messageId, entry),
      ...(role !== undefined && { role }),
      ...(whole !== undefined && !fits(messageId, text?.title) && { excerpt: excerptOf(whole, words) }),
    });
  };

  for (const entry of entries) {
    const { messageId, paths = [], parentSeq, checkpointId } = entry;
    lookAt(entry, messageId, entry.message);
    lookAt(entry, entry.forMessageId, entry.forMessage);
    const parent = parentSeq === null ? undefined : bySeq.get(parentSeq);
    const call = parent !== undefined && isWorkOfCallAfter(parent, entry) ? parent : undefined;
    if (call !== undefined) withWork.add(call);
    if (messageId === null || !fits(call?.tool?.name, inputText(call?.tool?.input), ...paths)) continue;
    const hits = paths.filter((path) => fits(path));
    calls.push({
      ...messageFields(messageId, entry),
      checkpointId,
      ...toolOf(call),
      paths: hits.slice(0, MOST_PATHS),
      morePaths: Math.max(0, hits.length - MOST_PATHS),
    });
  }
  for (const entry of entries) {
    const { tool, checkpointId, messageId, forMessageId = messageId } = entry;
    if (tool === undefined || forMessageId === null || withWork.has(entry)) continue;
    if (!fits(tool.name, inputText(tool.input))) continue;
    calls.push({
      ...messageFields(forMessageId, entry),
      checkpointId,
      ...toolOf(entry),
      paths: [],
      morePaths: 0,
    });
  }
  return { messages: [...messages.values()], calls };
};

const newestFirst = (one: { at: string }, other: { at: string }): number =>
  one.at === other.at ? 0 : one.at < other.at ? 1 : -1;

/** `nowSeconds`: words of checkpoints that have expired by then are not found. */
export const findWords = (
  blocks: readonly WordBlock[],
  asked: string,
  nowSeconds: number,
): Pick<SearchSessionsAnswer, 'messages' | 'calls' | 'looked'> => {
  // Most sessions lack one of the words, and are not read further. JSON in JSON has marks before quotes, and before marks.
  const unmarked = (text: string): string => text.replaceAll(/["\\]/g, '');
  const words = wordsOf(asked).map((word) => unmarked(JSON.stringify(word)));
  const messages: FoundMessage[] = [];
  const calls: FoundCall[] = [];
  const sessions = Map.groupBy(blocks, ({ sessionId }) => sessionId);
  const counts = { checkpoints: 0, cut: 0 };
  for (const [sessionId, own] of sessions) {
    const lines = own
      .toSorted((one, other) => one.number - other.number)
      .flatMap(({ packed }) => unpackLines(packed));
    counts.checkpoints += lines.length;
    counts.cut += lines.filter((line) => line.endsWith('"isCut":true}')).length;
    const text = unmarked(folded(lines.join('\n')));
    if (!words.every((word) => text.includes(word))) continue;
    const entries = lines.map(readLine).filter(({ until }) => until > nowSeconds);
    const found = foundIn(sessionId, entries, asked);
    messages.push(...found.messages);
    calls.push(...found.calls);
  }
  return {
    messages: messages.toSorted(newestFirst),
    calls: calls.toSorted(newestFirst),
    looked: { ...counts, sessions: sessions.size },
  };
};
