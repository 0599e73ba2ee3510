/** What a search found, and how far it looked. */
import type { SearchSessionsAnswer } from '../contract/search-sessions.ts';
import { plural } from '../core/shared/plural.ts';
import { toolCallWords } from './tool-call-words.ts';

type FoundCall = SearchSessionsAnswer['calls'][number];

/** Files that one found call names. */
const MOST_PATHS = 3;

/** The call, and the files of it that fit. */
export const foundCallWords = ({ tool, input, paths, morePaths, title, messageId }: FoundCall): string => {
  const call = tool === undefined ? '' : toolCallWords({ name: tool, ...(input !== undefined && { input }) });
  const left = Math.max(0, paths.length - MOST_PATHS) + morePaths;
  const more = left > 0 ? [`${left} more`] : [];
  return (
    [call, ...paths.slice(0, MOST_PATHS), ...more].filter((part) => part !== '').join(' · ') ||
    (title ?? messageId)
  );
};

/** Follows on the count of checkpoints that were looked through. */
export const cutWords = ({ cut }: SearchSessionsAnswer['looked']): string =>
  cut === 0 ? '' : `; of ${plural(cut, 'long one')} only the beginning`;
