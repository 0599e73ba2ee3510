/**
 * Finds a point of the timeline for a command that was given none: a person chooses it on a terminal, else an
 * error lists the points.
 */
import type { TimelineAnswer, TimelineCheckpoint } from '../contract/checkpoint-answers.ts';
import { shortCheckpointId } from '../present/checkpoint-words.ts';
import { listSome, printableLine } from '../present/text.ts';
import type { Run } from './app.ts';
import { CliError } from './failure.ts';
import { type Choice, choose } from './terminal/choose.ts';
import { formatTime } from './terminal/text.ts';
import { readTimeline } from './timeline.ts';
import { messageLabel } from './view/message-label.ts';
import { HALF_WRITTEN } from './view/timeline-rows.ts';

const NEWEST = 200;
const NAMED_IN_ERROR = 12;

const changesOf = ({ repositories }: TimelineCheckpoint): string => {
  const changed = repositories.filter(({ changed: is }) => is).map(({ path }) => printableLine(path));
  return changed.length === 0 ? 'nothing changed' : listSome(changed, 3);
};

const place = (isHead: boolean, onHeadPath: boolean): string => {
  if (isHead) return ' · head';
  return onHeadPath ? '' : ' · left behind';
};

/** Messages, each at its last checkpoint, and other checkpoints by their short ids; newest first. */
export const pointsOf = (timeline: TimelineAnswer, now: Date): Choice[] => {
  const lastOf = new Map(timeline.messages.map(({ messageId, checkpointId }) => [checkpointId, messageId]));
  const titles = new Map(timeline.messages.map(({ messageId, title }) => [messageId, title]));
  const labelOf = (messageId: string): string => messageLabel(messageId, titles.get(messageId));
  return timeline.checkpoints
    .filter(({ detached }) => !detached)
    .map((checkpoint) => {
      const { checkpointId, seq, reason, createdAt, messageId, onHeadPath, halfWritten } = checkpoint;
      const message = lastOf.get(checkpointId);
      const of = messageId === null ? reason : `${labelOf(messageId)}, ${reason}`;
      return {
        value: message ?? checkpointId,
        label: printableLine(message === undefined ? `${shortCheckpointId(seq)}  ${of}` : labelOf(message)),
        hint: `${formatTime(createdAt, now)} · ${halfWritten === true ? `${HALF_WRITTEN} · ` : ''}${changesOf(checkpoint)}${place(seq === timeline.session.headSeq, onHeadPath)}`,
      };
    });
};

export const choosePoint = async (run: Run, sessionId: string, question: string): Promise<string> => {
  const { terminal, signal } = run;
  const timeline = await run.progress('Reading the timeline', () => readTimeline(run, sessionId, NEWEST));
  const points = pointsOf(timeline, terminal.now());
  if (terminal.stdin.isTTY !== true || run.json) {
    const names = listSome(
      points.map(({ value }) => value),
      NAMED_IN_ERROR,
    );
    throw new CliError('InvalidInput', `Where to? Name it with --to: ${names}.`, {
      hint: 'on a terminal the command lets you choose; walkback log shows the timeline',
    });
  }
  const chosen = await choose(terminal, `${question}:`, points, signal);
  if (chosen === undefined)
    throw new CliError('NotConfirmed', 'Nothing was chosen, and nothing was changed.');
  return chosen;
};
