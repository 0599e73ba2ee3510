import type {
  SessionAnswer,
  TimelineCheckpoint,
  TimelineMessage,
} from '../../contract/checkpoint-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { shortCheckpointId, whyTaken } from '../../present/checkpoint-words.ts';
import { formatBytes, listSome, printableLine } from '../../present/text.ts';
import { callBefore } from '../../present/tool-call-words.ts';
import { formatTime } from '../terminal/text.ts';
import type { Cell } from './graph.ts';
import { layOutTree } from './graph.ts';
import { messageLabel } from './message-label.ts';

export type Standing = 'head' | 'current' | 'abandoned' | 'copy';

/** One checkpoint of `walkback log`, ready to print. */
export interface TimelineRow {
  above: Cell[][];
  node: Cell[];
  below: Cell[];
  standing: Standing;
  /** `cp-7`, accepted wherever a checkpoint is expected. */
  shortId: string;
  checkpointId: string;
  /** Its id, or its title where a host made the id. */
  message: string;
  discarded: boolean;
  /**
   * The message's title, at its last checkpoint that changed something, else at its last one. Empty when `message` is
   * the title.
   */
  title: string;
  why: string;
  time: string;
  /** What changed since the checkpoint before it, in one line, with the tool call that made it. */
  changes: string;
  warnings: string[];
}

export interface TimelineView {
  rows: TimelineRow[];
  open: Cell[];
  graphWidth: number;
}

/** Lines where they were counted, else bytes. */
const whatHappened = ({
  state,
  change,
  changes,
  bundleBytes,
}: TimelineCheckpoint['repositories'][number]): string => {
  if (state === 'absent') return 'removed';
  const { added = null, deleted = null } = changes ?? {};
  const size = added === null || deleted === null ? formatBytes(bundleBytes) : `+${added} -${deleted}`;
  return change === 'created' ? `created ${size}` : size;
};

/** `api +3 -1 · web 310 B`, or a text when the changes are not known. */
export const changesOf = (checkpoint: Pick<TimelineCheckpoint, 'reason' | 'repositories'>): string => {
  const changed = checkpoint.repositories.filter((repository) => repository.changed);
  if (checkpoint.reason === 'baseline') {
    const bytes = checkpoint.repositories.reduce((sum, repository) => sum + repository.bundleBytes, 0);
    const names = checkpoint.repositories.map((repository) => printableLine(repository.path));
    return `${plural(names.length, 'repository', 'repositories')}: ${listSome(names, 6)} · ${formatBytes(bytes)}`;
  }
  if (changed.length === 0) return 'nothing changed';
  const parts = changed.map((repository) => `${printableLine(repository.path)} ${whatHappened(repository)}`);
  return parts.length > 6 ? `${parts.slice(0, 6).join(' · ')} · ${parts.length - 6} more` : parts.join(' · ');
};

/** One line for each thing that the checkpoint does not hold; empty when it is complete. */
const missingOf = (checkpoint: Pick<TimelineCheckpoint, 'complete' | 'failures'>): string[] => {
  if (checkpoint.complete) return [];
  const shown = checkpoint.failures
    .slice(0, 3)
    .map((failure) => `incomplete: ${printableLine(failure.path)}: ${printableLine(failure.reason)}`);
  const more = checkpoint.failures.length - shown.length;
  return more > 0 ? [...shown, `incomplete: ${more} more`] : shown.length > 0 ? shown : ['incomplete'];
};

/** In a line beside others. */
export const HALF_WRITTEN = 'may be half written, a rollback broke off';

/** Why it may not be what one wants to go back to; empty for most. */
export const warningsOf = (
  checkpoint: Pick<TimelineCheckpoint, 'complete' | 'failures' | 'halfWritten'>,
): string[] => [...(checkpoint.halfWritten === true ? [HALF_WRITTEN] : []), ...missingOf(checkpoint)];

const standingOf = (checkpoint: TimelineCheckpoint, headSeq: number): Standing => {
  if (checkpoint.detached) return 'copy';
  if (checkpoint.seq === headSeq) return 'head';
  return checkpoint.onHeadPath ? 'current' : 'abandoned';
};

/** `Edit: api +3 -1`. `before`: its parent, if it is shown too. */
const changesLine = (checkpoint: TimelineCheckpoint, before: TimelineCheckpoint | undefined): string => {
  const call = callBefore(checkpoint, before);
  const changes = changesOf(checkpoint);
  return call === undefined ? changes : `${printableLine(call)}: ${changes}`;
};

type Titled = Pick<TimelineMessage, 'messageId' | 'discarded' | 'title'> &
  Partial<Pick<TimelineMessage, 'checkpointId'>>;

/** The title of each message, by the checkpoint that shows it. */
const titlesAt = (
  checkpoints: readonly TimelineCheckpoint[],
  messages: readonly Titled[],
): Map<string, string> => {
  const titles = new Map<string, string>();
  for (const { messageId, checkpointId, title } of messages) {
    if (checkpointId == null || title === undefined) continue;
    const end = checkpoints.find((one) => one.checkpointId === checkpointId)?.seq ?? Infinity;
    const last = checkpoints
      .filter((one) => one.messageId === messageId && one.seq <= end)
      .filter(({ repositories }) => repositories.some(({ changed }) => changed))
      .toSorted((one, other) => other.seq - one.seq)[0];
    titles.set(last?.checkpointId ?? checkpointId, title);
  }
  return titles;
};

/** Builds what `walkback log` prints from the answer of `walkback-timeline`. */
export const buildTimeline = (
  timeline: {
    session: Pick<SessionAnswer, 'headSeq'>;
    checkpoints: TimelineCheckpoint[];
    messages: Titled[];
  },
  now: Date,
): TimelineView => {
  const { headSeq } = timeline.session;
  const graph = layOutTree(timeline.checkpoints, headSeq);
  const bySeq = new Map(timeline.checkpoints.map((checkpoint) => [checkpoint.seq, checkpoint]));
  const discarded = new Set(
    timeline.messages.flatMap((message) => (message.discarded ? [message.messageId] : [])),
  );
  const titles = titlesAt(timeline.checkpoints, timeline.messages);
  const labels = new Map(
    timeline.messages.map(({ messageId, title }) => [messageId, messageLabel(messageId, title)]),
  );
  const rows = graph.rows.flatMap((row): TimelineRow[] => {
    const checkpoint = bySeq.get(row.seq);
    if (checkpoint === undefined) return [];
    const messageId = checkpoint.messageId ?? '';
    const message = labels.get(messageId) ?? messageId;
    return [
      {
        above: row.above,
        node: row.node,
        below: row.below,
        standing: standingOf(checkpoint, headSeq),
        shortId: shortCheckpointId(checkpoint.seq),
        checkpointId: checkpoint.checkpointId,
        message,
        discarded: checkpoint.messageId !== null && discarded.has(checkpoint.messageId),
        title: message === messageId ? printableLine(titles.get(checkpoint.checkpointId) ?? '') : '',
        why: printableLine(whyTaken(checkpoint)),
        time: formatTime(checkpoint.createdAt, now),
        changes: changesLine(checkpoint, bySeq.get(checkpoint.parentSeq ?? 0)),
        warnings: warningsOf(checkpoint),
      },
    ];
  });
  return { rows, open: graph.open, graphWidth: graph.width };
};
