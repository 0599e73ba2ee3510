/** How a search for a fault is told, in command and console. */
import type { BisectSessionAnswer, SearchProgress, Suspect, TriedCheckpoint } from '../contract/bisect.ts';
import { checkpointSeq } from '../core/shared/ids.ts';
import { plural } from '../core/shared/plural.ts';
import { NO_CALL, shortCheckpointId, whatMade } from './checkpoint-words.ts';
import { callSubject } from './tool-call-words.ts';

/** An end of the search is not what it was said to be. What the command wrote there is in what progress tells, not in the error. */
export const POINT_ERRORS = ['GoodPointFails', 'BadPointPasses', 'PointNotJudged'];

/** `cp-7`, or the whole id where it is not one of ours. */
export const shortId = (checkpointId: string): string => {
  const seq = checkpointSeq(checkpointId);
  return seq === undefined ? checkpointId : shortCheckpointId(seq);
};

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
export const suspectTitle = ({ title, messageId, reason }: Suspect): string =>
  whatMade({ reason }) ?? title ?? messageId ?? 'The work of no message';

export const callWords = ({ madeBy, reason }: Suspect): string =>
  madeBy === undefined
    ? (whatMade({ reason }) ?? NO_CALL)
    : [madeBy.name, callSubject(madeBy)].filter((part) => part !== '').join(' ');

/** One sentence: what was found. */
export const foundWords = ({
  outcome,
  suspects,
  suspectsNotListed = 0,
  checkpoints,
  tried,
}: BisectSessionAnswer): string => {
  const effort = `${plural(tried.length, 'checkpoint')} of ${checkpoints} tried`;
  const [first] = suspects;
  return outcome === 'found' && first !== undefined
    ? `${shortId(first.checkpointId)} broke it (${effort}).`
    : `One of ${suspects.length + suspectsNotListed} checkpoints broke it; those between could not be judged (${effort}).`;
};
