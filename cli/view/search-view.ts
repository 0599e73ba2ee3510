import type { SearchSessionsAnswer } from '../../contract/search-sessions.ts';
import { plural } from '../../core/shared/plural.ts';
import { cutWords, foundCallWords } from '../../present/found-words.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime, truncate } from '../terminal/text.ts';

interface Look {
  paint: Paint;
  width: number;
  now: Date;
}

type SearchHit = SearchSessionsAnswer['messages'][number] | SearchSessionsAnswer['calls'][number];

/** What was found, and below it where. */
const block = (found: SearchHit, words: string, { paint, width, now }: Look): string[] => {
  const place = [
    found.sessionId,
    found.messageId,
    ...('checkpointId' in found ? [found.checkpointId] : []),
  ].join('  ');
  return [
    truncate(printableLine(words), width),
    ...('excerpt' in found && found.excerpt !== undefined
      ? [truncate(`  ${printableLine(found.excerpt)}`, width)]
      : []),
    `  ${paint.dim(`${formatTime(found.at, now)}  ${printableLine(place)}`)}`,
  ];
};

const part = <One extends SearchHit>(
  title: string,
  found: readonly One[],
  more: number,
  words: (one: One) => string,
  look: Look,
): string[] =>
  found.length === 0
    ? []
    : [
        look.paint.bold(title),
        ...found.flatMap((one) => block(one, words(one), look)),
        ...(more > 0 ? [look.paint.yellow(`and ${more} more: give more words, or --limit`)] : []),
        '',
      ];

export const searchText = (answer: SearchSessionsAnswer, look: Look): string => {
  const { messages, moreMessages, calls, moreCalls, looked, lookedBackTo, cursor } = answer;
  const parts = [
    ...part('Messages', messages, moreMessages, ({ title, messageId }) => title ?? messageId, look),
    ...part('Tool calls and files', calls, moreCalls, foundCallWords, look),
  ];
  const { paint } = look;
  const through = `${plural(looked.checkpoints, 'checkpoint')} of ${plural(looked.sessions, 'session')}`;
  const lines = [
    ...(parts.length === 0 ? ['Nothing was found.'] : parts),
    paint.dim(`Looked through ${through}${cutWords(looked)}.`),
    ...(cursor === undefined || lookedBackTo === undefined
      ? []
      : [paint.dim(`Since ${formatTime(lookedBackTo, look.now)}. Look further back: --cursor ${cursor}`)]),
  ];
  return `${lines.join('\n')}\n`;
};
