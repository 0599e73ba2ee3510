/**
 * The answers of the checkpoint functions. Answers are extended, never changed: a caller ignores fields
 * that it does not know.
 */
import * as z from 'zod';

const count = z.int().min(0);
const cursor = z.string().optional().describe('hand it in for the next page; absent on the last');

/** A checkpoint of a session. */
const pointOf = () => z.object({ sessionId: z.string(), checkpointId: z.string() });

/** Something a checkpoint does not hold, and why. */
const uncaptured = () =>
  z.object({
    path: z.string().describe('relative to the projects root'),
    reason: z.string(),
    sizeBytes: count.optional(),
  });
export type Uncaptured = z.infer<ReturnType<typeof uncaptured>>;

/** What other processes wrote while a rollback was at work. */
const lateWrites = () =>
  z.object({
    checkpointId: z
      .string()
      .describe('what was there before the rollback, with these files as they were written meanwhile'),
    files: z.array(z.string()).describe('relative to the projects root; the first ones'),
  });
export type LateWrites = z.infer<ReturnType<typeof lateWrites>>;

/** How a call that did not ask to roll back settled an abandoned rollback. */
const settledRollback = () =>
  z.object({
    requestId: z.string(),
    outcome: z
      .enum(['closed', 'undone', 'finished', 'given-up'])
      .describe(
        'closed: it had written nothing; undone: put back; finished: the rest was written; given-up: left as it stood',
      ),
    targetCheckpointId: z.string().nullable(),
    undoCheckpointId: z.string().nullable().describe('what was there before it began'),
    foundCheckpointId: z.string().nullable().describe('what was there when it was settled'),
    kept: z.array(z.string()).describe('work done since on what it was to change; the first ones'),
    by: z.string().describe('the call that settled it'),
    at: z.string(),
    message: z.string(),
    lateWrites: lateWrites().optional().describe('what other processes wrote while it was settled'),
  });
export type SettledRollback = z.infer<ReturnType<typeof settledRollback>>;

/** In the answer of the call that settled it. */
const settledHere = () =>
  settledRollback()
    .optional()
    .describe('a rollback that nobody had finished, and what this call did about it');

export const startSessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    epoch: z.int(),
    checkpointId: z.string().describe('the baseline'),
    repositories: z.array(
      z.object({
        path: z.string(),
        branch: z.string().nullable(),
        head: z.string().nullable(),
        commits: count,
      }),
    ),
    warnings: z.array(z.string()),
  });
export type StartSessionAnswer = z.infer<ReturnType<typeof startSessionAnswer>>;

export const checkpointAnswer = () =>
  z.object({
    checkpointId: z.string(),
    seq: z.int(),
    epoch: z.int(),
    complete: z.boolean().describe('false when something is missing that should be in it: see failures'),
    repositories: z.array(
      z.object({
        path: z.string(),
        commit: z.string().nullable().describe('null: not captured'),
        changed: z.boolean(),
        bundleBytes: count,
      }),
    ),
    failures: z.array(uncaptured()),
    skipped: z.array(uncaptured()).describe('left out by a rule'),
    settledRollback: settledHere(),
  });
export type CheckpointAnswer = z.infer<ReturnType<typeof checkpointAnswer>>;

const timelineRepository = () =>
  z.object({
    path: z.string(),
    state: z.enum(['captured', 'absent', 'failed']),
    commit: z.string().nullable(),
    changed: z.boolean(),
    bundleBytes: count,
    branch: z.string().nullable(),
    head: z.string().nullable(),
    changes: z
      .object({ files: count.nullable(), added: count.nullable(), deleted: count.nullable() })
      .optional()
      .describe('since the checkpoint before; null: not counted; absent: not kept'),
  });

const timelineCheckpoint = () =>
  z.object({
    ...checkpointAnswer().shape,
    parentSeq: z.int().nullable(),
    messageId: z.string().nullable(),
    toolExecutionId: z.string(),
    reason: z.string(),
    sandboxId: z.string(),
    detached: z.boolean().describe('taken in a review copy'),
    onHeadPath: z.boolean().describe('on the path from the baseline to the head'),
    createdAt: z.string(),
    repositories: z.array(timelineRepository()),
    tool: z.object({ name: z.string() }).optional().describe('the tool call that it was taken before'),
  });
export type TimelineCheckpoint = z.infer<ReturnType<typeof timelineCheckpoint>>;

const busy = () =>
  z.object({
    kind: z.enum(['rollback', 'resume']),
    requestId: z.string(),
    untilMs: z.number().describe('deadline of the call that works on it; after that anybody may finish it'),
  });
/** Who holds a timeline exclusively, and until when it must be assumed to be alive. */
export type Busy = z.infer<ReturnType<typeof busy>>;

const sessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    status: z.enum(['active', 'ended']),
    epoch: z.int(),
    headSeq: z.int(),
    headCheckpointId: z.string().nullable(),
    seq: z.int().describe('of the newest checkpoint'),
    sandboxId: z.string(),
    projectsRoot: z.string(),
    template: z.string().nullable(),
    include: z.array(z.string()),
    exclude: z.array(z.string()),
    maxFileBytes: count,
    retentionDays: z.int(),
    metadata: z.record(z.string(), z.string()),
    tenant: z.string().nullable(),
    forkedFrom: pointOf().optional().describe('the checkpoint that this fork began at'),
    busy: busy().nullable(),
    settledRollback: settledRollback().optional().describe('the last rollback that another call settled'),
    createdAt: z.string(),
    updatedAt: z.string(),
    expiresAt: z.number().describe('Unix seconds'),
  });
export type SessionAnswer = z.infer<ReturnType<typeof sessionAnswer>>;

export const listSessionsAnswer = () =>
  z.object({
    sessions: z.array(sessionAnswer().omit({ headCheckpointId: true })),
    cursor,
  });
export type ListSessionsAnswer = z.infer<ReturnType<typeof listSessionsAnswer>>;
/** A session without its head's id, which would be one more read each. */
export type ListedSession = ListSessionsAnswer['sessions'][number];

export const endSessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    expiresAt: z.number().describe('Unix seconds'),
  });
export type EndSessionAnswer = z.infer<ReturnType<typeof endSessionAnswer>>;

export const timelineAnswer = () =>
  z.object({
    session: sessionAnswer(),
    checkpoints: z.array(timelineCheckpoint()).describe('newest first'),
    messages: z.array(
      z.object({
        messageId: z.string(),
        order: z.int(),
        checkpointId: z.string().nullable().describe('what rolling back to it means; null: expired'),
        discarded: z.boolean().describe('a rollback left its work behind'),
        role: z.string().optional(),
        title: z.string().optional().describe('one line; absent when none was given'),
      }),
    ),
    cursor,
  });
export type TimelineAnswer = z.infer<ReturnType<typeof timelineAnswer>>;
export type TimelineMessage = TimelineAnswer['messages'][number];

const headState = () =>
  z.object({
    kind: z.enum(['branch', 'unborn', 'detached']),
    branch: z.string().nullable(),
    commit: z.string().nullable(),
  });

/** The differences in a repository beside its working files. */
export const hostChange = () =>
  z.object({
    head: z
      .object({
        from: headState(),
        to: headState(),
        commitsMade: count
          .nullable()
          .optional()
          .describe('commits that HEAD comes to and nothing held before; absent: it stays at its commit'),
        commitsLeft: count
          .nullable()
          .optional()
          .describe('of a detached HEAD: commits that nothing holds after it'),
      })
      .optional()
      .describe('HEAD is at another branch or commit'),
    branches: z
      .array(
        z.object({
          name: z.string(),
          from: z.string().nullable().describe('null: it appears'),
          to: z.string().nullable().describe('null: it vanishes'),
          commitsLeft: count.nullable().describe('commits that nothing holds after it; null: not known'),
        }),
      )
      .describe('that appear, vanish or move'),
    index: z
      .object({ entries: count.nullable().describe('null: not known') })
      .optional()
      .describe('entries of the index that differ'),
    operation: z
      .object({ from: z.string().nullable(), to: z.string().nullable() })
      .optional()
      .describe('merge, rebase, cherry-pick, revert or bisect in progress; null: none'),
  });
export type HostChange = z.infer<ReturnType<typeof hostChange>>;

/** One file that differs between two captures of a repository. */
export const fileChange = () =>
  z.object({
    path: z.string().describe('in the repository'),
    from: z.string().optional().describe('where it was before: it was renamed'),
    change: z
      .enum(['added', 'deleted', 'modified', 'renamed', 'retyped'])
      .describe('retyped: a file is a symlink now, or the reverse'),
    added: count.nullable().describe('lines; null: binary, or not counted'),
    deleted: count.nullable(),
    binary: z.boolean().describe('no lines to show; so is a file of more than 4 MiB'),
    mode: z.object({ from: z.string(), to: z.string() }).optional().describe("git's mode, where it differs"),
  });
export type FileChange = z.infer<ReturnType<typeof fileChange>>;

export const diffAnswer = () =>
  z.object({
    repositories: z
      .array(
        z.object({
          path: z.string(),
          diff: z.string().describe('unified, with the repository in its paths; empty with stat'),
          truncated: z.boolean(),
          files: count,
          added: count,
          deleted: count,
          host: hostChange().optional().describe('what differs beside files; absent when nothing does'),
        }),
      )
      .describe('of both sides, those that are equal too'),
    warnings: z.array(z.string()),
  });
export type DiffAnswer = z.infer<ReturnType<typeof diffAnswer>>;

const repositoryChanges = () =>
  z.object({
    path: z.string(),
    change: z
      .enum(['changed', 'created', 'removed'])
      .describe('created: there is no checkpoint of it before'),
    counts: z
      .object({ files: count.nullable(), added: count.nullable(), deleted: count.nullable() })
      .nullable()
      .describe('of all files; null: not kept, or not counted'),
    files: z.array(fileChange()),
    host: hostChange().optional().describe('what changed beside files'),
    patch: z.string().describe('unified, with the repository in its paths'),
    truncated: z.boolean().describe('files or patch are not whole'),
    note: z.string().optional().describe('why something is not there'),
  });

const checkpointChanges = () =>
  z.object({
    checkpointId: z.string(),
    seq: z.int(),
    parentCheckpointId: z.string().nullable().describe('the checkpoint before it; null: none, or expired'),
    messageId: z.string().nullable(),
    reason: z.string(),
    createdAt: z.string(),
    message: z
      .object({
        role: z.string(),
        title: z.string().optional(),
        text: z.string().optional(),
        truncated: z.boolean(),
      })
      .optional()
      .describe('as it was given with this checkpoint'),
    tool: z
      .object({
        name: z.string(),
        input: z.string().optional().describe('text as it was given, anything else as JSON'),
        truncated: z.boolean(),
      })
      .optional()
      .describe('the tool call that it was taken before'),
    repositories: z.array(repositoryChanges()).describe('those that changed'),
    warnings: z.array(z.string()),
  });
export type CheckpointChanges = z.infer<ReturnType<typeof checkpointChanges>>;

export const changesAnswer = () =>
  z.object({
    sessionId: z.string(),
    checkpoints: z.array(checkpointChanges()).describe('oldest first'),
    cursor,
  });
export type ChangesAnswer = z.infer<ReturnType<typeof changesAnswer>>;

/** An effect of a saga that no rollback takes back. */
const standingEffect = () =>
  z.object({
    sagaId: z.string(),
    status: z.string().describe("the saga's"),
    messageId: z.string().nullable().describe('whose work the saga is; null: not said when it was started'),
    step: z.string(),
    tool: z.string(),
    externalRef: z.string().nullable(),
    reversible: z.boolean().describe('false when nothing takes it back'),
  });
export type StandingEffect = z.infer<ReturnType<typeof standingEffect>>;

/** A path that both sides changed in ways that do not go together. */
const conflict = () =>
  z.object({
    repository: z.string(),
    path: z.string().describe('in the repository; "." for the repository itself'),
    kind: z.enum([
      'content',
      'modify/delete',
      'binary',
      'mode',
      'symlink',
      'file/directory',
      'rename',
      'repository',
    ]),
    message: z.string(),
  });
export type Conflict = z.infer<ReturnType<typeof conflict>>;

export const rollbackAnswer = () =>
  z.object({
    status: z.enum(['APPLIED', 'PLANNED']),
    checkpointId: z.string(),
    epoch: z.int().describe('the next checkpoint needs it'),
    undoCheckpointId: z.string().nullable().describe('roll back to it to undo the rollback'),
    repositories: z.array(
      z.object({
        path: z.string(),
        written: count,
        deleted: count,
        action: z.enum(['unchanged', 'restored', 'created', 'parked']),
        host: hostChange().optional().describe('what changes beside files; absent when nothing does'),
        paths: z
          .array(z.object({ path: z.string(), change: z.enum(['write', 'delete']) }))
          .optional()
          .describe('dryRun only: the first paths of the plan'),
      }),
    ),
    discardedMessageIds: z.array(z.string()),
    trimAfterMessageId: z.string().nullable().describe('cut the conversation after this message'),
    effects: z
      .array(standingEffect())
      .optional()
      .describe('effects of sagas that came after the target, and stand: files go back, effects do not'),
    conflicts: z
      .array(conflict())
      .optional()
      .describe(
        'what both sides changed; in a plan: nothing would be written; done: between markers in the files',
      ),
    warnings: z.array(z.string()),
    lateWrites: lateWrites()
      .optional()
      .describe(
        'another process wrote files meanwhile that the rollback replaced or deleted: a checkpoint has them',
      ),
    settledRollback: settledHere(),
  });
export type RollbackAnswer = z.infer<ReturnType<typeof rollbackAnswer>>;

export const mergeAnswer = () =>
  z.object({
    ...rollbackAnswer().shape,
    status: z.enum(['APPLIED', 'PLANNED', 'NOTHING']).describe('NOTHING: its work is there already'),
    from: pointOf().describe('the checkpoint whose work came'),
    base: pointOf().describe('the last checkpoint that both sides have'),
  });
export type MergeAnswer = z.infer<ReturnType<typeof mergeAnswer>>;

export const forkSessionAnswer = () =>
  z.object({
    sessionId: z.string().describe('the fork'),
    sandboxId: z.string(),
    checkpointId: z.string().describe('its first'),
    epoch: z.int(),
    projectsRoot: z.string(),
    prompt: z.string().describe('for the system prompt of the agent that works there'),
    forkedFrom: pointOf(),
    repositories: z.array(
      z.object({
        path: z.string(),
        commit: z.string().nullable(),
        branch: z.string().nullable(),
        head: z.string().nullable(),
      }),
    ),
    warnings: z.array(z.string()),
  });
export type ForkSessionAnswer = z.infer<ReturnType<typeof forkSessionAnswer>>;

export const rehydrateAnswer = () =>
  z.object({
    sandboxId: z.string(),
    checkpointId: z.string(),
    epoch: z.int(),
    projectsRoot: z.string(),
    repositories: z.array(
      z.object({
        path: z.string(),
        commit: z.string(),
        tree: z.string(),
        branch: z.string().optional(),
        head: z.string().optional(),
      }),
    ),
    warnings: z.array(z.string()),
    settledRollback: settledHere(),
  });
export type RehydrateAnswer = z.infer<ReturnType<typeof rehydrateAnswer>>;

const repositoryInfo = () =>
  z.object({
    path: z.string(),
    headKind: z.enum(['branch', 'unborn', 'detached', 'unreadable']),
    branch: z.string().optional(),
    head: z.string().optional(),
    commits: count,
    shallow: z.boolean(),
    partial: z.boolean(),
    objectFormat: z.enum(['sha1', 'sha256']),
    base: z
      .string()
      .optional()
      .describe('name of the base bundle it would need now; absent without a commit'),
    recent: z
      .array(z.object({ commit: z.string(), subject: z.string() }))
      .optional()
      .describe('newest first'),
    dirty: count.optional().describe('changed paths'),
    remote: z.string().optional(),
  });
/** Host facts of one repository, read without writing anything. */
export type RepositoryInfo = z.infer<ReturnType<typeof repositoryInfo>>;

const directoryListing = () =>
  z.object({
    path: z.string(),
    entries: z
      .array(z.string())
      .describe('directories with a trailing slash; without .git and what is ignored'),
    truncated: z.boolean(),
  });
export type DirectoryListing = z.infer<ReturnType<typeof directoryListing>>;

export const contextAnswer = () =>
  z.object({
    prompt: z.string().describe('for the system prompt'),
    repositories: z.array(repositoryInfo()),
    directories: z.array(directoryListing()),
  });
export type ContextAnswer = z.infer<ReturnType<typeof contextAnswer>>;
