/** Describes where lines came from, for the answer. */
import type { BlameOrigin } from '../../../contract/blame.ts';
import { contentOfCall } from '../content/describe-changes.ts';
import type { CalledTool, Checkpoint, Message, Session } from '../model.ts';
import type { BlamedBy } from '../ports/blame.ts';
import type { SessionStore } from '../ports/stores.ts';
import { type Whose, workSince } from '../timeline/whose-work.ts';
import type { HistoryNode } from './history.ts';
import { type Ancestry, type Remembered, shortTool } from './read-ancestry.ts';

/** The name of the step that no checkpoint has. */
export const NOW = 'now';

/** What is done in a review copy is nobody's. */
const NOBODY: Whose = { messageId: null, unowned: true };

interface Described {
  ancestry: Ancestry;
  nodes: readonly HistoryNode[];
  session: Session;
  head: Checkpoint;
  isCopy: boolean;
  file: string;
  /** Commits from which the repository's own history was read. */
  ownCommits: readonly string[];
}

const calledBy = (tool: CalledTool | undefined) =>
  tool === undefined
    ? {}
    : {
        madeBy: {
          name: tool.name,
          ...(tool.input !== undefined && { input: tool.input }),
          truncated: tool.isCut ?? false,
        },
      };

export const createOrigins = (store: Pick<SessionStore, 'listMessages'>, of: Described) => {
  const { ancestry, nodes, session, head, isCopy, file } = of;
  const ancestors = new Map(ancestry.ancestors.map((one) => [one.name, one]));
  const messages = new Map<string, Promise<Map<string, Message>>>();

  const titleOf = async (sessionId: string, messageId: string | null) => {
    if (messageId === null) return {};
    const reading =
      messages.get(sessionId) ??
      store.listMessages(sessionId).then((all) => new Map(all.map((one) => [one.messageId, one])));
    messages.set(sessionId, reading);
    const message = (await reading).get(messageId);
    return {
      ...(message?.title !== undefined && { title: message.title }),
      ...(message?.role !== undefined && { role: message.role }),
    };
  };

  const now = async (named: { path?: string }): Promise<BlameOrigin> => {
    const { messageId, unowned } = isCopy ? NOBODY : workSince(head, session);
    const owner = unowned ? null : messageId;
    const { epoch, sandboxId, seq } = session;
    const next = { messageId, epoch, sandboxId, seq: seq + 1, reason: NOW };
    const content = owner === null ? undefined : contentOfCall(next, { ...head, ...shortTool(head) });
    return {
      kind: NOW,
      messageId: owner,
      ...(await titleOf(session.sessionId, owner)),
      ...calledBy(content?.tool),
      ...named,
    };
  };

  const fromCheckpoint = async (
    { step, begins, commit }: HistoryNode,
    named: { path?: string },
  ): Promise<BlameOrigin> => {
    const ancestor = ancestors.get(step);
    if (ancestor === undefined) return now(named);
    const { stop, origins } = ancestor;
    const { sessionId, checkpointId, reason, createdAt, unowned } = stop;
    if (begins !== undefined) {
      const isKnown = commit === undefined || of.ownCommits.includes(commit);
      return {
        kind: 'before',
        sessionId,
        checkpointId,
        why: isKnown ? 'uncommitted' : 'unknown',
        isSessionStart: begins === 'session',
        createdAt,
        ...named,
      };
    }
    const messageId = unowned === true ? null : stop.messageId;
    const [first] = origins;
    const before = first === undefined ? undefined : ancestors.get(first)?.stop;
    const read = (name: string | undefined): Remembered | undefined =>
      name === undefined ? undefined : ancestry.remembered.get(name);
    const checkpoint = read(step);
    const content = checkpoint && contentOfCall(checkpoint, read(first));
    return {
      kind: 'checkpoint',
      sessionId,
      checkpointId,
      previousCheckpointId: before?.sessionId === sessionId ? before.checkpointId : null,
      messageId,
      ...(await titleOf(sessionId, messageId)),
      ...calledBy(content?.tool),
      reason,
      createdAt,
      ...named,
    };
  };

  return async (source: BlamedBy): Promise<BlameOrigin> => {
    const named = source.path === file ? {} : { path: source.path };
    if ('commit' in source) {
      const { commit, author, authoredAt, summary } = source;
      return { kind: 'commit', commit, author, authoredAt, summary, ...named };
    }
    const node = nodes[source.node];
    return node === undefined ? now(named) : fromCheckpoint(node, named);
  };
};
