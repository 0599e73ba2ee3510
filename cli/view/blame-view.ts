/** The view of `walkback blame`. Its text comes from a sandbox or a model, so it is made printable first. */
import type { BlameAnswer, BlameOrigin } from '../../contract/blame.ts';
import {
  leftWords,
  originMaker,
  originPlace,
  originTime,
  originTitle,
  runsOf,
  shownWords,
} from '../../present/blame-words.ts';
import { printable, printableLine } from '../../present/text.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime, padEnd, padStart, truncate, widest } from '../terminal/text.ts';

const TITLE_WIDTH = 34;

const paintPlace = ({ kind }: BlameOrigin, text: string, paint: Paint): string => {
  switch (kind) {
    case 'checkpoint':
      return paint.yellow(text);
    case 'now':
      return paint.green(text);
    case 'commit':
    case 'before':
      return paint.dim(text);
  }
};

interface Margin {
  place: string;
  title: string;
}

const marginOf = (origin: BlameOrigin, of: string): Margin => ({
  place: printableLine(originPlace(origin, of)),
  title: truncate(printableLine(originTitle(origin)), TITLE_WIDTH),
});

/** The margin is said where it begins, and left empty below. */
const lineTexts = ({ lines, origins, sessionId }: BlameAnswer, paint: Paint): string[] => {
  const margins = origins.map((origin) => marginOf(origin, sessionId));
  const placeWidth = widest(margins.map(({ place }) => place));
  const titleWidth = widest(margins.map(({ title }) => title));
  const numberWidth = String(lines.at(-1)?.line ?? 0).length;
  return runsOf(lines).flatMap((run) => {
    const margin = margins[run.origin];
    const origin = origins[run.origin];
    return run.lines.map(({ line, text, isCut }, at) => {
      const isFirst = at === 0 && margin !== undefined && origin !== undefined;
      const place = padEnd(isFirst ? margin.place : '', placeWidth);
      const words = [
        isFirst ? paintPlace(origin, place, paint) : place,
        padEnd(isFirst ? margin.title : '', titleWidth),
        paint.dim(padStart(String(line), numberWidth)),
        `${printable(text)}${isCut === true ? paint.dim(' … cut') : ''}`,
      ];
      return words.join('  ').trimEnd();
    });
  });
};

const originTable = ({ origins, lines, sessionId }: BlameAnswer, paint: Paint, now: Date): string => {
  const counts = new Map<number, number>();
  for (const { origin } of lines) counts.set(origin, (counts.get(origin) ?? 0) + 1);
  return table(
    [
      { head: 'FROM' },
      { head: 'LINES', align: 'right' },
      { head: 'WHEN' },
      { head: 'MESSAGE' },
      { head: 'MADE BY' },
    ],
    origins.map((origin, at) => {
      const time = originTime(origin);
      const messageId = 'messageId' in origin ? origin.messageId : null;
      const title = originTitle(origin);
      const who = messageId === null || title === messageId ? title : `${messageId}: ${title}`;
      const file = origin.path === undefined ? '' : ` (as ${origin.path})`;
      return [
        paintPlace(origin, printableLine(originPlace(origin, sessionId)), paint),
        String(counts.get(at) ?? 0),
        time === undefined ? '' : formatTime(time, now),
        printableLine(who),
        printableLine(`${originMaker(origin)}${file}`),
      ];
    }),
    paint,
  ).trimEnd();
};

/** `rest`: the command that shows what the answer has no room for. */
export const blameText = (
  answer: BlameAnswer,
  paint: Paint,
  { now, rest }: { now: Date; rest?: string },
): string => {
  const { lines, warnings } = answer;
  return `${[
    ...warnings.map((warning) => paint.yellow(`! ${printableLine(warning)}`)),
    paint.bold(`${printableLine(shownWords(answer))}, ${leftWords(answer)}`),
    ...(lines.length === 0 ? ['The file is empty.'] : lineTexts(answer, paint)),
    ...(rest === undefined ? [] : [paint.yellow(`… cut here: ${printable(rest)}`)]),
    ...(lines.length === 0 ? [] : ['', originTable(answer, paint, now)]),
  ].join('\n')}\n`;
};
