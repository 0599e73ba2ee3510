/** How a search for a fault is told, in command and console. */
import type { BisectSessionAnswer, SearchProgress, Suspect, TriedCheckpoint } from '../contract/bisect.ts';
import { checkpointSeq } from '../core/shared/ids.ts';
import { plural } from '../core/shared/plural.ts';
import { NO_CALL, shortCheckpointId, whatMade } from './checkpoint-words.ts';
import { toolCallWords } from './tool-call-words.ts';

/** An end of the search is not what it was said to be. What the command wrote there is in what progress tells, not in the error. */
export const POINT_ERRORS = ['GoodPointFails', 'BadPointPasses', 'PointNotJudged'];

/** `cp-7`, or the whole id where it is not one of ours. */
export const shortId = (checkpointId: string): string => {
  const seq = checkpointSeq(checkpointId);
  return seq === undefined ? checkpointId : shortCheckpointId(seq);
};

/** With its session, where that is another one than the session that was searched. */
export const pointWords = (
  { sessionId, checkpointId }: Pick<TriedCheckpoint, 'sessionId' | 'checkpointId'>,
  searched: string,
): string => (sessionId === searched ? shortId(checkpointId) : `${shortId(checkpointId)} of ${sessionId}`);

/** How the command ended at a checkpoint. */
export const endWords = ({ exitCode, note }: Pick<TriedCheckpoint, 'exitCode' | 'note'>): string =>
  exitCode === null ? (note ?? 'not run') : `exit code ${exitCode}`;

/** What is known while the search goes on. */
export const searchWords = ({ tried, trying, left }: SearchProgress): string => {
  const last = tried.at(-1);
  return [
    `${plural(tried.length, 'checkpoint')} tried`,
    ...(trying > 0 ? [`${trying} at work`] : []),
    `${left} left`,
    ...(last === undefined ? [] : [`${shortId(last.checkpointId)} is ${last.verdict}`]),
  ].join(', ');
};

/** The message, or what made the change where it was no message. */
export const suspectTitle = ({
  title,
  messageId,
  reason,
}: Pick<Suspect, 'title' | 'messageId' | 'reason'>): string =>
  whatMade({ reason }) ?? title ?? messageId ?? 'The work of no message';

/** The tool call; empty where the title says what made the change. */
export const callWords = ({ madeBy, reason }: Pick<Suspect, 'madeBy' | 'reason'>): string =>
  madeBy === undefined ? (whatMade({ reason }) === undefined ? NO_CALL : '') : toolCallWords(madeBy);

/** One sentence: what was found. */
export const foundWords = ({
  sessionId,
  outcome,
  suspects,
  suspectsNotListed = 0,
  through,
  checkpoints,
  tried,
}: BisectSessionAnswer): string => {
  // Those that a merge brought are counted among the tried ones only.
  const all = through.length > 0 || tried.length > checkpoints ? '' : ` of ${checkpoints}`;
  const effort = `${plural(tried.length, 'checkpoint')}${all} tried`;
  const [first] = suspects;
  return outcome === 'found' && first !== undefined
    ? `${pointWords(first, sessionId)} broke it (${effort}).`
    : `One of ${suspects.length + suspectsNotListed} checkpoints broke it; those between could not be judged (${effort}).`;
};
