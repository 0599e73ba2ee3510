/** What the commands of the plugin can go back to, read from the timeline of a conversation's session. */
import type { TimelineAnswer, TimelineCheckpoint } from '../../../contract/checkpoint-answers.ts';

/** A prompt of the conversation whose work stands. */
export interface StandingPrompt {
  messageId: string | undefined;
  /** What the person wrote; undefined when that is not known. */
  title: string | undefined;
  /** The state just before its first tool. */
  before: TimelineCheckpoint;
  /** The checkpoints that hold its work, newest first. */
  work: TimelineCheckpoint[];
  /** Its turn was cut, and no checkpoint holds the work of its last tool. */
  isCut: boolean;
}

/** The prompt that the hooks heard of last. */
export interface LastPrompt {
  messageId: string;
  title: string | undefined;
}

type Timeline = Pick<TimelineAnswer, 'session' | 'checkpoints' | 'messages'>;

/** From the head to the baseline. */
export const pathOf = ({ checkpoints }: Pick<Timeline, 'checkpoints'>): TimelineCheckpoint[] =>
  checkpoints.filter(({ onHeadPath, detached }) => onHeadPath && !detached);

/**
 * Whether a tool ran after the newest checkpoint: its turn was cut, so no checkpoint holds its work. A
 * rollback moves the head, and nothing ran after that.
 */
const wasCut = ({ session }: Timeline, head: TimelineCheckpoint): boolean =>
  head.seq === session.seq && head.reason.startsWith('before-tool');

const didChange = ({ repositories }: TimelineCheckpoint): boolean =>
  repositories.some(({ changed }) => changed);

/** Prompts whose work stands, newest first. Prompts that changed nothing are left out. */
export const standingPrompts = (timeline: Timeline, last?: LastPrompt): StandingPrompt[] => {
  const path = pathOf(timeline);
  const titles = new Map(timeline.messages.map(({ messageId, title }) => [messageId, title]));
  const found: StandingPrompt[] = [];
  const [head] = path;
  if (head !== undefined && wasCut(timeline, head))
    found.push({ messageId: last?.messageId, title: last?.title, before: head, work: [], isCut: true });
  for (const [index, checkpoint] of path.entries()) {
    const before = path[index + 1];
    if (before === undefined || checkpoint.messageId === null) continue;
    const newest = found.at(-1);
    const isSame = newest?.messageId === checkpoint.messageId && newest.before === checkpoint;
    if (isSame) {
      newest.work.push(checkpoint);
      newest.before = before;
    } else {
      const { messageId } = checkpoint;
      const title = titles.get(messageId) ?? (messageId === last?.messageId ? last.title : undefined);
      found.push({ messageId, title, before, work: [checkpoint], isCut: false });
    }
  }
  return found.filter(({ work, isCut }) => isCut || work.some(didChange));
};
