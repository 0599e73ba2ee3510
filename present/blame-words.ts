/** How it is told who wrote a line, in command and console. */
import type { BlameAnswer, BlameOrigin } from '../contract/blame.ts';
import { plural } from '../core/shared/plural.ts';
import { callWords, pointWords, shortId, suspectTitle } from './bisect-words.ts';

/** Where a line came from, in a few characters. `of`: the session that was asked about. */
export const originPlace = (origin: BlameOrigin, of: string): string => {
  switch (origin.kind) {
    case 'checkpoint':
      return pointWords(origin, of);
    case 'now':
      return 'now';
    case 'commit':
      return origin.commit.slice(0, 9);
    case 'before':
      return 'before';
  }
};

/** The message, or what else wrote it. */
export const originTitle = (origin: BlameOrigin): string => {
  switch (origin.kind) {
    case 'checkpoint':
      return suspectTitle(origin);
    case 'now':
      return suspectTitle({ ...origin, reason: origin.kind });
    case 'commit':
      return origin.summary === '' ? 'A commit without a message' : origin.summary;
    case 'before':
      if (!origin.isSessionStart) return 'In the oldest checkpoint that is kept already';
      return origin.why === 'uncommitted' ? 'Before the session, not committed' : 'Before the session';
  }
};

/** The tool call, or the author of a commit; empty where the title says it all. */
export const originMaker = (origin: BlameOrigin): string => {
  switch (origin.kind) {
    case 'checkpoint':
      return callWords(origin);
    case 'now':
      return callWords({ ...origin, reason: origin.kind });
    case 'commit':
      return origin.author;
    case 'before':
      return origin.why === 'unknown' ? 'the commits from before cannot be read' : '';
  }
};

/** When, where that is known. */
export const originTime = (origin: BlameOrigin): string | undefined => {
  switch (origin.kind) {
    case 'checkpoint':
      return origin.createdAt;
    case 'commit':
      return origin.authoredAt;
    case 'now':
    case 'before':
      return undefined;
  }
};

/** Lines of one origin in a row. */
export interface Run {
  origin: number;
  lines: BlameAnswer['lines'];
}

export const runsOf = (lines: BlameAnswer['lines']): Run[] => {
  const runs: Run[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.origin === line.origin) last.lines.push(line);
    else runs.push({ origin: line.origin, lines: [line] });
  }
  return runs;
};

/** What is shown: `a.ts in api, as it is now`. */
export const shownWords = ({
  repository,
  path,
  at,
}: Pick<BlameAnswer, 'repository' | 'path' | 'at'>): string =>
  `${path} in ${repository === '.' ? 'the projects root' : repository}, ${at.isNow ? 'as it is now' : `at ${shortId(at.checkpointId)}`}`;

/** What an answer leaves out, and how to go on is said beside it. */
export const leftWords = ({ lines, totalLines }: Pick<BlameAnswer, 'lines' | 'totalLines'>): string => {
  const [first, last] = [lines.at(0)?.line ?? 0, lines.at(-1)?.line ?? 0];
  if (lines.length === totalLines) return plural(totalLines, 'line');
  return `${first === last ? `line ${first}` : `lines ${first} to ${last}`} of ${totalLines}`;
};
