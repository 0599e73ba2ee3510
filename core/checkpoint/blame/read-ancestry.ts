/** Reads from the store what a blame needs of the checkpoints that a state came from. */
import { clip } from '../../shared/clip.ts';
import { refName } from '../bisect/line.ts';
import { createReadTimelines, eachCheckpoint } from '../bisect/read-line.ts';
import type { Checkpoint, CheckpointRef, RepositoryState, Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { type Ancestor, ancestryOf } from './ancestry.ts';

/** An answer may have thousands of calls. */
const MAX_INPUT = 512;

/** What is kept of a checkpoint, which may have 400 KB. */
export type Remembered = Pick<
  Checkpoint,
  'seq' | 'messageId' | 'forMessageId' | 'epoch' | 'sandboxId' | 'reason'
> & {
  content?: Pick<NonNullable<Checkpoint['content']>, 'tool'>;
  /** Null: it has no such repository. */
  state: RepositoryState | null;
};

export interface Ancestry {
  /** Each after those that it came from. */
  ancestors: Ancestor[];
  /** By name of the ancestor. Retention may have removed one since the timelines were read. */
  remembered: ReadonlyMap<string, Remembered>;
}

type Store = Pick<SessionStore, 'getSession' | 'listTree' | 'listCheckpoints'>;

export const shortTool = ({ content }: Pick<Checkpoint, 'content'>): Pick<Remembered, 'content'> => {
  const { tool } = content ?? {};
  if (tool === undefined) return {};
  const { input, ...rest } = tool;
  const kept = input === undefined ? undefined : clip(input, MAX_INPUT);
  return {
    content: {
      tool: {
        ...rest,
        ...(kept !== undefined && { input: kept }),
        ...(kept !== input && { isCut: true }),
      },
    },
  };
};

const rememberedOf = (checkpoint: Checkpoint, repository: string): Remembered => {
  const { seq, messageId, forMessageId, epoch, sandboxId, reason, repositories } = checkpoint;
  return {
    seq,
    messageId,
    ...(forMessageId !== undefined && { forMessageId }),
    epoch,
    sandboxId,
    reason,
    ...shortTool(checkpoint),
    state: repositories.find(({ path }) => path === repository) ?? null,
  };
};

const readGraph = async (store: Store, owner: Session, end: CheckpointRef): Promise<Ancestor[]> => {
  const { timelines, hasRoom, read } = createReadTimelines(store, owner);
  for (;;) {
    const { ancestors, unread } = ancestryOf(timelines, end);
    if (unread === undefined) return ancestors;
    if (hasRoom()) await read(unread);
    else timelines.set(unread, new Map());
  }
};

export const readAncestry = async (
  store: Store,
  owner: Session,
  end: CheckpointRef,
  repository: string,
): Promise<Ancestry> => {
  const ancestors = await readGraph(store, owner, end);
  const remembered = new Map<string, Remembered>();
  for (const sessionId of new Set(ancestors.map(({ stop }) => stop.sessionId))) {
    await eachCheckpoint(
      store,
      sessionId,
      ancestors.flatMap(({ stop }) => (stop.sessionId === sessionId ? [stop.seq] : [])),
      (checkpoint) =>
        remembered.set(refName({ sessionId, seq: checkpoint.seq }), rememberedOf(checkpoint, repository)),
    );
  }
  return { ancestors, remembered };
};
