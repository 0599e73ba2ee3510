/** The Sessions table in memory: the same conditions as the real one, and copies in and out. */

import type { ChainLink, StoredBase, StoredUpload } from '../../../core/checkpoint/bundles.ts';
import type { RehydrateJournal, ReviewCopy, RollbackJournal } from '../../../core/checkpoint/journals.ts';
import type { Checkpoint, Message, Session, WorkProgress } from '../../../core/checkpoint/model.ts';
import type { SessionStore, TimelineMove, WriteOutcome } from '../../../core/checkpoint/ports/stores.ts';
import { nodeOf, outlineOf } from '../../../core/checkpoint/timeline/outline.ts';

interface Tables {
  sessions: Map<string, Session>;
  checkpoints: Map<string, Checkpoint>;
  tools: Map<string, number>;
  messages: Map<string, Message>;
  links: Map<string, ChainLink>;
  bases: Map<string, StoredBase>;
  uploads: Map<string, StoredUpload>;
  rollbacks: Map<string, RollbackJournal>;
  rehydrates: Map<string, RehydrateJournal>;
  copies: Map<string, ReviewCopy>;
  progress: Map<string, WorkProgress>;
}

export interface FakeStore extends SessionStore {
  readonly tables: Tables;
}

const key = (...parts: (string | number)[]): string => parts.join('\n');
const copyOf = <T>(value: T): T => structuredClone(value);
const isOpen = (journal: { phase: string } | undefined): boolean =>
  journal !== undefined && journal.phase !== 'done' && journal.phase !== 'failed';

export const createFakeStore = (): FakeStore => {
  const tables: Tables = {
    sessions: new Map(),
    checkpoints: new Map(),
    tools: new Map(),
    messages: new Map(),
    links: new Map(),
    bases: new Map(),
    uploads: new Map(),
    rollbacks: new Map(),
    rehydrates: new Map(),
    copies: new Map(),
    progress: new Map(),
  };
  const {
    sessions,
    checkpoints,
    tools,
    messages,
    links,
    bases,
    uploads,
    rollbacks,
    rehydrates,
    copies,
    progress,
  } = tables;

  const read = <T>(map: Map<string, T>, ...parts: (string | number)[]): T | undefined => {
    const found = map.get(key(...parts));
    return found === undefined ? undefined : copyOf(found);
  };
  const refused = <T>(existing: T | undefined): WriteOutcome<T> => ({
    written: false,
    existing: existing === undefined ? undefined : copyOf(existing),
  });
  const addCheckpoint = (checkpoint: Checkpoint): void => {
    checkpoints.set(key(checkpoint.sessionId, checkpoint.seq), copyOf(checkpoint));
    tools.set(key(checkpoint.sessionId, checkpoint.toolExecutionId), checkpoint.seq);
  };
  const mayMove = (move: TimelineMove): boolean => {
    const stored =
      'copy' in move
        ? copies.get(key(move.copy.sessionId, move.copy.sandboxId))
        : sessions.get(key(move.session.sessionId));
    return stored?.version === move.expectedVersion;
  };
  const doMove = (move: TimelineMove): void => {
    if ('copy' in move) copies.set(key(move.copy.sessionId, move.copy.sandboxId), copyOf(move.copy));
    else sessions.set(key(move.session.sessionId), copyOf(move.session));
  };
  const keepLinks = (added: readonly ChainLink[]): void => {
    for (const link of added) {
      const name = key(link.sessionId, link.chainId, link.link, link.commit);
      const stored = links.get(name) ?? link;
      links.set(name, copyOf({ ...stored, expiresAt: Math.max(stored.expiresAt, link.expiresAt) }));
    }
  };
  const inSession = <T extends { sessionId: string }>(map: Map<string, T>, sessionId: string): T[] =>
    [...map.values()].filter((item) => item.sessionId === sessionId).map(copyOf);

  return {
    tables,
    getSession: async (sessionId) => read(sessions, sessionId),
    getItems: async (sessionId, { session, toolExecutionId, seqs = [], messageId, rollback }) => {
      const found = <T>(wanted: unknown, map: Map<string, T>, name = '') =>
        wanted === undefined ? undefined : read(map, sessionId, name);
      const checkpointsFound = seqs.flatMap((seq) => {
        const one = read(checkpoints, sessionId, seq);
        return one === undefined ? [] : [[seq, one] as const];
      });
      return {
        session: session && read(sessions, sessionId),
        toolSeq: found(toolExecutionId, tools, toolExecutionId),
        checkpoints: new Map(checkpointsFound),
        message: found(messageId, messages, messageId),
        rollback: found(rollback, rollbacks, rollback),
      };
    },
    createSession: async (session, baseline) => {
      const existing = sessions.get(key(session.sessionId));
      if (existing !== undefined) return refused(existing);
      sessions.set(key(session.sessionId), copyOf(session));
      addCheckpoint(baseline);
      return { written: true };
    },
    updateSession: async (session, expectedVersion) => {
      const move = { session, expectedVersion };
      if (!mayMove(move)) return refused(sessions.get(key(session.sessionId)));
      doMove(move);
      return { written: true };
    },
    putProgress: async (told) => void progress.set(told.sessionId, copyOf(told)),
    getProgress: async (sessionId) => read(progress, sessionId),
    listSessions: async (limit) => ({ sessions: [...sessions.values()].slice(0, limit).map(copyOf) }),

    commitCheckpoint: async ({
      session,
      expectedVersion,
      checkpoint,
      message,
      journal,
      begins,
      copy,
      links: added,
    }) => {
      const { sessionId, seq, toolExecutionId } = checkpoint;
      const mayWrite =
        mayMove({ session, expectedVersion }) &&
        !checkpoints.has(key(sessionId, seq)) &&
        !tools.has(key(sessionId, toolExecutionId)) &&
        (journal === undefined ||
          (begins === true
            ? !rollbacks.has(key(sessionId, journal.requestId))
            : isOpen(rollbacks.get(key(sessionId, journal.requestId))))) &&
        (copy === undefined || mayMove(copy));
      // As the real one: what stood in the way, and that is the session only when it moved.
      if (!mayWrite) {
        const moved = !mayMove({ session, expectedVersion });
        return refused(moved ? sessions.get(key(sessionId)) : undefined);
      }
      doMove({ session, expectedVersion });
      addCheckpoint(checkpoint);
      if (message !== undefined) messages.set(key(sessionId, message.messageId), copyOf(message));
      if (journal !== undefined) rollbacks.set(key(sessionId, journal.requestId), copyOf(journal));
      if (copy !== undefined) doMove(copy);
      keepLinks(added ?? []);
      return { written: true };
    },
    getCheckpoint: async (sessionId, seq) => read(checkpoints, sessionId, seq),
    findCheckpointByTool: async (sessionId, toolExecutionId) => {
      const seq = tools.get(key(sessionId, toolExecutionId));
      return seq === undefined ? undefined : read(checkpoints, sessionId, seq);
    },
    listCheckpoints: async (sessionId, { limit, beforeSeq = Number.POSITIVE_INFINITY }) =>
      inSession(checkpoints, sessionId)
        .filter(({ seq }) => seq < beforeSeq)
        .toSorted((a, b) => b.seq - a.seq)
        .slice(0, limit),
    listTree: async (sessionId) =>
      inSession(checkpoints, sessionId)
        .toSorted((a, b) => a.seq - b.seq)
        .map((one) => nodeOf(one)),
    listOutlines: async (sessionId) =>
      inSession(checkpoints, sessionId)
        .toSorted((a, b) => a.seq - b.seq)
        .map(outlineOf),
    prolongCheckpoint: async ({ sessionId, seq }, expiresAt) => {
      const found = checkpoints.get(key(sessionId, seq));
      if (found !== undefined) found.expiresAt = Math.max(found.expiresAt, expiresAt);
    },
    findMessage: async (sessionId, messageId) => read(messages, sessionId, messageId),
    listMessages: async (sessionId) =>
      [...messages]
        .filter(([name]) => name.startsWith(`${sessionId}\n`))
        .map(([, message]) => copyOf(message))
        .toSorted((a, b) => a.order - b.order),

    putLinks: async (added) => keepLinks(added),
    listLinks: async (sessionId, chainId) =>
      inSession(links, sessionId)
        .filter((link) => link.chainId === chainId)
        .toSorted((a, b) => a.link - b.link),
    getBase: async (name, owner) => read(bases, owner, name),
    putBase: async (base) => {
      const name = key(base.owner, base.name);
      const stored = bases.get(name) ?? base;
      const kept = { ...stored, expiresAt: Math.max(stored.expiresAt, base.expiresAt) };
      bases.set(name, copyOf(kept));
      return copyOf(kept);
    },
    getUpload: async (name) => read(uploads, name),
    putUploads: async (added) => {
      for (const upload of added) uploads.set(key(upload.key), copyOf(upload));
    },

    getRollback: async (sessionId, requestId) => read(rollbacks, sessionId, requestId),
    beginRollback: async (journal, move) => {
      const existing = rollbacks.get(key(journal.sessionId, journal.requestId));
      if (existing !== undefined || !mayMove(move)) return refused(existing);
      rollbacks.set(key(journal.sessionId, journal.requestId), copyOf(journal));
      doMove(move);
      return { written: true };
    },
    moveRollback: async (journal, move, kept) => {
      const existing = rollbacks.get(key(journal.sessionId, journal.requestId));
      const found = kept && checkpoints.get(key(kept.checkpoint.sessionId, kept.checkpoint.seq));
      const mayKeep = kept === undefined || (found !== undefined && found.expiresAt <= kept.expiresAt);
      if (!isOpen(existing) || !mayMove(move) || !mayKeep) return refused(existing);
      if (found !== undefined && kept !== undefined) found.expiresAt = kept.expiresAt;
      for (const upload of kept?.uploads ?? []) uploads.set(key(upload.key), copyOf(upload));
      rollbacks.set(key(journal.sessionId, journal.requestId), copyOf(journal));
      doMove(move);
      return { written: true };
    },

    getRehydrate: async (sessionId, requestId) => read(rehydrates, sessionId, requestId),
    createRehydrate: async (journal, move) => {
      const existing = rehydrates.get(key(journal.sessionId, journal.requestId));
      if (existing !== undefined || (move !== undefined && !mayMove(move))) return refused(existing);
      rehydrates.set(key(journal.sessionId, journal.requestId), copyOf(journal));
      if (move !== undefined) doMove(move);
      return { written: true };
    },
    moveRehydrate: async (journal, expectedAttempt, also) => {
      const existing = rehydrates.get(key(journal.sessionId, journal.requestId));
      if (!isOpen(existing) || existing?.attempt !== expectedAttempt) return refused(existing);
      if (also !== undefined && 'session' in also && !mayMove(also)) return refused(existing);
      if (also !== undefined && 'copy' in also) {
        const name = key(also.copy.sessionId, also.copy.sandboxId);
        if (copies.has(name)) return refused(existing);
        copies.set(name, copyOf(also.copy));
      }
      if (also !== undefined && 'session' in also) doMove(also);
      rehydrates.set(key(journal.sessionId, journal.requestId), copyOf(journal));
      return { written: true };
    },
    holdRehydrate: async ({ sessionId, requestId, attempt }, heldUntilMs) => {
      const existing = rehydrates.get(key(sessionId, requestId));
      if (!isOpen(existing) || existing?.attempt !== attempt || existing.heldUntilMs === undefined) return;
      rehydrates.set(key(sessionId, requestId), { ...existing, heldUntilMs });
    },
    getCopy: async (sessionId, sandboxId) => read(copies, sessionId, sandboxId),
    updateCopy: async (copy, expectedVersion) => {
      if (!mayMove({ copy, expectedVersion }))
        return refused(copies.get(key(copy.sessionId, copy.sandboxId)));
      doMove({ copy, expectedVersion });
      return { written: true };
    },
  };
};
