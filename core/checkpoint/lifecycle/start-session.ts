/**
 * Starts a session: looks at the sandbox, takes the baseline, and creates session and baseline in one
 * transaction. The same `sessionId` with the same request gives the same answer, so a retry after a crash
 * is safe.
 */
import type { StartSessionAnswer } from '../../../contract/checkpoint-answers.ts';
import type { StartSessionInput } from '../../../contract/checkpoint-inputs.ts';
import { MIB } from '../../../contract/sizes.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { BASELINE_TOOL_ID, timeSortableId } from '../../shared/ids.ts';
import { plural } from '../../shared/plural.ts';
import { type CaptureDeps, createCapture } from '../capture/capture.ts';
import { createCheckpoint } from '../capture/checkpoint-item.ts';
import { DEFAULTS } from '../defaults.ts';
import type { Session } from '../model.ts';
import type { LooseFiles } from '../ports/repositories.ts';
import type { ExecutionAdapter, Sandboxes } from '../ports/sandbox.ts';
import { startSessionAnswer } from '../session/answers.ts';
import { baseOwnerOf } from '../session/keys.ts';
import { requestHash } from '../session/request-hash.ts';
import { expiryOf, isAlive } from '../session/retention.ts';
import { requireActive } from '../session/session-rules.ts';

export type StartSessionDeps = CaptureDeps & { sandboxes: Sandboxes; random: () => string };

const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;

const tooLarge = (root: string, { files, bytes }: LooseFiles): WalkbackError => {
  const size = bytes === null ? '' : ` with ${mib(bytes)}`;
  const count = files === null ? 'more files than can be counted' : `${plural(files, 'file')}${size}`;
  const most = `${plural(DEFAULTS.mostLooseFiles, 'file')} with ${mib(DEFAULTS.mostLooseBytes)}`;
  return new WalkbackError(
    'LooseFilesTooLarge',
    `${root} holds ${count} in no git repository. At most ${most} are captured. Nothing was captured yet.`,
    { details: { projectsRoot: root, files, bytes } },
  );
};

/** `around` is the repository that the projects root lies in. A repository made inside it would hide files from it. */
const noRepositories = (root: string, around?: string): WalkbackError =>
  new WalkbackError(
    'NoRepositories',
    around === undefined
      ? `There is no git repository at ${root} or in the ${DEFAULTS.maxDepth} levels below it. Clone or "git init" one first, give another projectsRoot, or capture its files without one (looseFiles; --loose).`
      : `${root} is a directory of the git repository ${around}. A session covers whole repositories: give ${around} as projectsRoot, or a directory above it.`,
    { details: { projectsRoot: root, ...(around === undefined ? {} : { repository: around }) } },
  );

export const createStartSession = (deps: StartSessionDeps) => {
  const { store, sandboxes, repositories, clock, log, random } = deps;
  const capture = createCapture(deps);

  const draft = (input: StartSessionInput, sessionId: string, hash: string): Session => {
    const now = clock.now().toISOString();
    const retentionDays = input.retentionDays ?? DEFAULTS.retentionDays;
    return {
      sessionId,
      epoch: 1,
      version: 1,
      isLine: true,
      seq: 0,
      headSeq: 0,
      messageCount: 0,
      lines: { added: 0, deleted: 0 },
      repositoryCount: 0,
      sandboxId: input.sandboxId,
      projectsRoot: input.projectsRoot,
      template: input.template,
      include: input.include ?? [],
      exclude: input.exclude ?? [],
      maxFileBytes: input.maxFileBytes ?? DEFAULTS.maxFileBytes,
      retentionDays,
      metadata: input.metadata ?? {},
      ...(input.tenant !== undefined && { tenant: input.tenant }),
      ...(input.project !== undefined && { project: input.project }),
      status: 'active',
      requestHash: hash,
      createdAt: now,
      updatedAt: now,
      expiresAt: expiryOf({ retentionDays }, clock),
    };
  };

  /** The answer for a session that exists already. */
  const adopt = async (session: Session, hash: string): Promise<StartSessionAnswer> => {
    const { sessionId } = session;
    if (session.requestHash !== hash) {
      throw new WalkbackError(
        'SessionConflict',
        `Session "${sessionId}" exists and was started with other settings. Choose another sessionId, or leave it out.`,
        { details: { sessionId } },
      );
    }
    requireActive(session);
    const baseline = await store.findCheckpointByTool(sessionId, BASELINE_TOOL_ID);
    if (baseline !== undefined) return startSessionAnswer(baseline);
    throw new WalkbackError(
      'SessionConflict',
      `Session "${sessionId}" is so old that its baseline is gone. Choose another sessionId.`,
      { details: { sessionId } },
    );
  };

  /** A session that was started in the wrong directory, a home for example, says so before it captures anything. */
  const requireSmall = async (session: Session, sandbox: ExecutionAdapter, invocation: Invocation) => {
    const { projectsRoot, include, exclude, maxFileBytes } = session;
    const { mostLooseFiles, mostLooseBytes } = DEFAULTS;
    const found = await repositories.countLooseFiles(sandbox, {
      projectsRoot,
      include,
      exclude,
      maxFileBytes,
      mostFiles: mostLooseFiles,
      timeoutMs: commandTimeout(invocation, clock),
    });
    const { files, bytes } = found;
    if (files === null || bytes === null || files > mostLooseFiles || bytes > mostLooseBytes) {
      throw tooLarge(projectsRoot, found);
    }
  };

  /**
   * Looks at the sandbox, and finds the bases that the owner has already stored, so that the capture need
   * not make them again.
   */
  const look = async (
    session: Session,
    sandbox: ExecutionAdapter,
    { looseFiles }: StartSessionInput,
    invocation: Invocation,
  ) => {
    const survey = await repositories.survey(sandbox, {
      projectsRoot: session.projectsRoot,
      maxDepth: DEFAULTS.maxDepth,
      detail: false,
      timeoutMs: commandTimeout(invocation, clock),
    });
    const { projectsRoot } = session;
    const isEmpty = survey.repositories.length === 0;
    if (isEmpty && (looseFiles === false || survey.around !== undefined)) {
      throw noRepositories(projectsRoot, survey.around);
    }
    // A root that is a repository has nothing loose.
    const isLoose = (isEmpty || looseFiles === true) && !survey.repositories.some(({ path }) => path === '.');
    if (isLoose) await requireSmall(session, sandbox, invocation);
    const names = [...new Set(survey.repositories.flatMap(({ base }) => base ?? []))];
    const bases = await Promise.all(names.map((name) => store.getBase(name, baseOwnerOf(session))));
    return {
      isLoose,
      knownBases: bases.flatMap((base) => (base !== undefined && isAlive(base, clock) ? [base.name] : [])),
      commits: new Map(survey.repositories.map(({ path, commits }) => [path, commits])),
    };
  };

  return async (input: StartSessionInput, invocation: Invocation): Promise<StartSessionAnswer> => {
    const sessionId = input.sessionId ?? timeSortableId('s', clock.now(), random());
    const { sessionId: _, ...meaning } = input;
    const hash = requestHash(meaning);
    const existing = input.sessionId === undefined ? undefined : await store.getSession(sessionId);
    if (existing !== undefined) return adopt(existing, hash);

    const session = draft(input, sessionId, hash);
    const sandbox = await sandboxes.open(input.sandboxId);
    const { isLoose, knownBases, commits } = await look(session, sandbox, input, invocation);
    const about = { toolExecutionId: BASELINE_TOOL_ID, messageId: null, reason: 'baseline' };
    const captured = await capture(
      { session, sandbox, head: undefined, knownBases, looseFiles: isLoose, ...about },
      invocation,
    );
    if (captured.repositories.length === 0) throw noRepositories(session.projectsRoot);
    // Only the survey counts commits; a capture has no time for it.
    const counted = captured.repositories.map((state) => ({ ...state, commits: commits.get(state.path) }));
    const baseline = createCheckpoint(
      {
        ...about,
        session,
        captured: { ...captured, repositories: counted },
        parentSeq: null,
        parent: undefined,
        messageOrder: null,
        sandboxId: session.sandboxId,
        detached: false,
      },
      clock,
    );
    const started = {
      ...session,
      seq: baseline.seq,
      headSeq: baseline.seq,
      repositoryCount: counted.length,
    };
    const outcome = await store.createSession(started, baseline);
    if (outcome.written) {
      log.info('session started', { sessionId, checkpointId: baseline.checkpointId });
      return startSessionAnswer(baseline);
    }
    const other = outcome.existing ?? (await store.getSession(sessionId));
    if (other !== undefined) return adopt(other, hash);
    throw new WalkbackError('Throttled', 'The session could not be written. Call again.', {
      retryable: true,
    });
  };
};
