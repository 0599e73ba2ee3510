/** Starts sessions, finds them again, and lists them. */
import { basename } from 'node:path';
import type { ListedCopy, ListedSession, Progress } from '../contract/checkpoint-answers.ts';
import type { SandboxApi } from './connect.ts';
import { errors, isWalkbackError } from './errors.ts';
import { requireFields } from './given.ts';
import { freshId } from './ids.ts';
import type { CallOptions } from './invoke.ts';
import { createOver, forget, isOver, placesOf, realDirectory } from './local-sandbox.ts';
import { timelinePosition } from './place.ts';
import { type Point, targetOfPoint } from './point.ts';
import type { Answer, Request } from './requests.ts';
import { directoryIn } from './sandbox-places.ts';
import { createSession, type Session, type SessionDeps } from './session.ts';
import { pause } from './waiting.ts';

type More = Omit<Request<'start-session'>, 'sandboxId' | 'projectsRoot'>;

/**
 * A directory of this machine, with the embedded cloud; or a sandbox, and the directory in it that holds the
 * repositories.
 */
export type StartOptions = More & ({ root: string } | { sandboxId: string; projectsRoot: string });

export type BisectOptions = Omit<Request<'bisect-session'>, 'good' | 'bad'> & {
  /** Where the command succeeds. Default: where the conversation began. */
  good?: Point;
  /** Where it fails. Default: the checkpoint that the session stands on. */
  bad?: Point;
};

export interface Sessions {
  /**
   * Starts a session and takes its baseline. With `root` and the `sessionId` of an existing session, finds
   * that one.
   */
  start(options: StartOptions, call?: CallOptions): Promise<Session>;
  /** A session that was started before. */
  get(sessionId: string, call?: CallOptions): Promise<Session>;
  /** Every session, newest first. */
  list(call?: CallOptions): Promise<ListedSession[]>;
  /**
   * Finds messages, tool calls and changed files by words of them. The words of the last seconds may be missing. The
   * answer's `cursor`, handed in with the same words, looks further back.
   */
  search(
    words: string,
    options?: Omit<Request<'search-sessions'>, 'words'>,
    call?: CallOptions,
  ): Promise<Answer<'search-sessions'>>;
  /** How far a long capture, rollback or rehydrate of the session is, also while `start` runs. Null when none told of itself lately. */
  progress(sessionId: string, call?: CallOptions): Promise<Progress | null>;
  /**
   * Finds the message that broke something: a binary search, with a command that runs in fresh copies of
   * checkpoints. Waits until the search ends, over several calls where one has no time for all of it. The same
   * `requestId` (default: a new one) goes on with the same search, or gets its answer again.
   */
  bisect(options: BisectOptions, call?: CallOptions): Promise<Answer<'bisect-session'>>;
  end(sessionId: string, call?: CallOptions): Promise<Answer<'end-session'>>;
  /** Sandboxes of review copies that still exist, oldest first. None of them is one that a session works in. */
  copies(options?: Request<'list-copies'>, call?: CallOptions): Promise<ListedCopy[]>;
  /** Kills the sandbox of a review copy. `SessionConflict` when a session works in it. */
  deleteCopy(sandboxId: string, call?: CallOptions): Promise<Answer<'delete-copy'>>;
  /**
   * The directory of this machine that holds the repositories of a fork, a copy or a session. Takes an answer
   * that names the sandbox. Undefined on AWS, where the sandbox is elsewhere. `SandboxNotFound` when it is
   * gone.
   */
  directoryOf(place: { sandboxId: string; projectsRoot: string }): Promise<string | undefined>;
}

export interface SessionsDeps extends SessionDeps {
  sandboxes(): Promise<SandboxApi | undefined>;
}

const SANDBOX = { sandboxId: 'text', projectsRoot: 'text' } as const;
const DIRECTORY = { root: 'directory' } as const;

/** A search goes on in the next call. */
const AGAIN_MS = 200;

const nameOfPoint = (point: Point): string => {
  const { messageId, checkpointId } = targetOfPoint(point);
  return checkpointId ?? messageId;
};

/** An id that a person recognises. */
const idFor = (root: string): string => {
  const name = basename(root)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40);
  return `${name === '' ? 'session' : name}-${freshId('').slice(1, 9)}`;
};

export const createSessions = (deps: SessionsDeps): Sessions => {
  const { invoke } = deps;

  const begin = async (
    request: Request<'start-session'> & { sessionId: string },
    call?: CallOptions,
  ): Promise<Session> => {
    const { sessionId, epoch } = await invoke('start-session', request, call);
    // The baseline is checkpoint 1. If the id belongs to an older session, the answers of a run tell the
    // rest.
    return createSession(deps, sessionId, { epoch, seq: 1 });
  };

  const get = async (sessionId: string, call?: CallOptions): Promise<Session> =>
    createSession(deps, sessionId, timelinePosition(await invoke('timeline', { sessionId, limit: 1 }, call)));

  /** A fork, and a session that was resumed, has the root of its source, but its files are elsewhere. */
  const findActive = async (
    sandboxes: SandboxApi,
    sessionId: string,
    root: string,
    call?: CallOptions,
  ): Promise<Session | undefined> => {
    try {
      const answer = await invoke('timeline', { sessionId, limit: 1 }, call);
      const { projectsRoot, status, sandboxId } = answer.session;
      if (projectsRoot === root && status === 'active' && (await isOver(sandboxes, sandboxId, root)))
        return createSession(deps, sessionId, timelinePosition(answer));
    } catch (error) {
      if (!isWalkbackError(error, 'SessionNotFound')) throw error;
      return undefined;
    }
    throw new errors.SessionConflict(
      `Session ${sessionId} is over, or does not work in ${root} itself; choose another sessionId.`,
    );
  };

  const startOver = async (root: string, more: More, call?: CallOptions): Promise<Session> => {
    const sandboxes = await deps.sandboxes();
    if (sandboxes === undefined) {
      throw new errors.InvalidInput(
        'root is a directory of this machine, for the embedded cloud, but this client talks to AWS, because of its options or of ' +
          'AWS_PROFILE, AWS_REGION or the like in the environment. For the embedded cloud give new Walkback({ dataDir }) or ' +
          'set WALKBACK_DATA; on AWS give sandboxId and projectsRoot.',
      );
    }
    const projectsRoot = await realDirectory(root);
    const found =
      more.sessionId === undefined
        ? undefined
        : await findActive(sandboxes, more.sessionId, projectsRoot, call);
    if (found !== undefined) return found;
    const sandboxId = await createOver(sandboxes, projectsRoot);
    try {
      return await begin({ sessionId: idFor(projectsRoot), ...more, sandboxId, projectsRoot }, call);
    } catch (error) {
      await forget(sandboxes, sandboxId);
      // Somebody else may have started the session meanwhile, in another sandbox.
      const other =
        more.sessionId === undefined || !isWalkbackError(error, 'SessionConflict')
          ? undefined
          : await findActive(sandboxes, more.sessionId, projectsRoot, call);
      if (other !== undefined) return other;
      throw error;
    }
  };

  return {
    start: async (options, call) => {
      requireFields('sessions.start', { options }, { options: 'object' });
      const place = 'sandboxId' in options ? SANDBOX : DIRECTORY;
      requireFields('sessions.start', options, { ...place, 'sessionId?': 'text' });
      if (!('root' in options)) return begin({ sessionId: freshId('session'), ...options }, call);
      const { root, ...more } = options;
      return startOver(root, more, call);
    },
    get,
    list: async (call) => {
      const sessions: ListedSession[] = [];
      let cursor: string | undefined;
      do {
        const page = { limit: 200, ...(cursor === undefined ? {} : { cursor }) };
        const answer = await invoke('list-sessions', page, call);
        sessions.push(...answer.sessions);
        cursor = answer.cursor;
      } while (cursor !== undefined);
      return sessions.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
    },
    search: async (words, options = {}, call) => {
      requireFields('sessions.search', { words, options }, { words: 'text', options: 'object' });
      return invoke('search-sessions', { words, ...options }, call);
    },
    progress: async (sessionId, call) => (await invoke('progress', { sessionId }, call)).progress,
    bisect: async (options, call) => {
      requireFields('sessions.bisect', { options }, { options: 'object' });
      requireFields('sessions.bisect', options, {
        sessionId: 'text',
        command: 'text',
        'good?': 'point',
        'bad?': 'point',
      });
      const { good, bad, ...rest } = options;
      const request = {
        requestId: freshId('bisect'),
        ...rest,
        ...(good === undefined ? {} : { good: nameOfPoint(good) }),
        ...(bad === undefined ? {} : { bad: nameOfPoint(bad) }),
      };
      for (;;) {
        try {
          return await invoke('bisect-session', request, call);
        } catch (error) {
          // What this call tried is stored.
          if (!isWalkbackError(error, 'StillRunning')) throw error;
          await pause(AGAIN_MS, call?.signal);
        }
      }
    },
    end: (sessionId, call) => invoke('end-session', { sessionId }, call),
    copies: async (options = {}, call) => (await invoke('list-copies', options, call)).copies,
    deleteCopy: (sandboxId, call) => invoke('delete-copy', { sandboxId }, call),
    directoryOf: async (place) => {
      requireFields('sessions.directoryOf', place, SANDBOX);
      const sandboxes = await deps.sandboxes();
      if (sandboxes === undefined) return undefined;
      const places = await placesOf(sandboxes, place.sandboxId);
      if (places === undefined) {
        throw new errors.SandboxNotFound(`The sandbox ${place.sandboxId} is gone.`);
      }
      return directoryIn(places, place.projectsRoot);
    },
  };
};
