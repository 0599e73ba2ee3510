/**
 * The answers of the checkpoint functions. Answers are extended, never changed: a caller ignores fields
 * that it does not know. Those about changes are in change-answers.ts, those of what moves a session in
 * rollback-answers.ts.
 */
import * as z from 'zod';
import {
  count,
  cursor,
  lineCount,
  pointOf,
  settledHere,
  settledRollback,
  uncaptured,
} from './answer-fields.ts';
import { searchProgress } from './bisect.ts';
import { askedBy } from './identity.ts';
import { work } from './progress.ts';

export const startSessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    epoch: z.int(),
    checkpointId: z.string().describe('the baseline'),
    complete: z
      .boolean()
      .describe('false when the baseline lacks something that should be in it: see warnings'),
    repositories: z.array(
      z.object({
        path: z.string(),
        branch: z.string().nullable(),
        head: z.string().nullable(),
        commits: count,
        isLoose: z
          .literal(true)
          .optional()
          .describe('no repository: the files of the projects root that lie in none'),
      }),
    ),
    warnings: z.array(z.string()),
  });
export type StartSessionAnswer = z.infer<ReturnType<typeof startSessionAnswer>>;

const repositoryState = () => z.enum(['captured', 'absent', 'failed']);

const repositoryChange = () =>
  z
    .enum(['changed', 'created', 'removed'])
    .optional()
    .describe('since the checkpoint before, as walkback-changes says it; absent: none, or a baseline');

export const checkpointAnswer = () =>
  z.object({
    checkpointId: z.string(),
    seq: z.int(),
    epoch: z.int(),
    messageId: z
      .string()
      .nullable()
      .describe('the last message whose work it holds; null: it belongs to no message'),
    complete: z.boolean().describe('false when something is missing that should be in it: see failures'),
    repositories: z.array(
      z.object({
        path: z.string(),
        commit: z.string().nullable().describe('null: not captured'),
        state: repositoryState().optional().describe('absent: it is gone; failed: see failures'),
        changed: z.boolean(),
        change: repositoryChange(),
        bundleBytes: count,
      }),
    ),
    failures: z.array(uncaptured()).describe('when there are many, the last one says how many more'),
    skipped: z
      .array(uncaptured())
      .describe('left out by a rule; when there are many, the last one says how many more'),
    settledRollback: settledHere(),
  });
export type CheckpointAnswer = z.infer<ReturnType<typeof checkpointAnswer>>;

const timelineRepository = () =>
  z.object({
    path: z.string(),
    state: repositoryState(),
    commit: z.string().nullable(),
    changed: z.boolean(),
    change: repositoryChange(),
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
    toolExecutionId: z.string(),
    reason: z.string(),
    sandboxId: z.string(),
    detached: z.boolean().describe('taken in a review copy'),
    onHeadPath: z.boolean().describe('on the path from the baseline to the head'),
    createdAt: z.string(),
    repositories: z.array(timelineRepository()).describe('with brief: none'),
    lines: lineCount().optional().describe('with brief: what it changed in all repositories'),
    tool: z
      .object({ name: z.string() })
      .optional()
      .describe('the tool call that it was taken before; its work is in the next checkpoint'),
    by: askedBy().optional().describe('who asked for the rollback that it was taken before'),
    halfWritten: z
      .literal(true)
      .optional()
      .describe(
        'taken where a rollback, merge or revert broke off while it wrote: it may hold parts of both ends',
      ),
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
    project: z.string().optional().describe('the project of its sagas; absent: none'),
    forkedFrom: pointOf().optional().describe('the checkpoint that this fork began at'),
    lines: lineCount().describe('what its messages changed, also what a rollback left behind'),
    repositories: count.describe('in its newest checkpoint'),
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

const discardedFork = () =>
  z.object({
    sandboxId: z.string(),
    isRunning: z
      .boolean()
      .describe(
        'false: the sandbox is gone already, or paused; a paused one is killed only with dropUncaptured',
      ),
    changed: z
      .array(z.string())
      .describe('repositories with work that was in no checkpoint when the call looked'),
    uncaptured: z.array(uncaptured()).describe('work that cannot be captured'),
    leftOut: z
      .array(uncaptured())
      .describe('what no checkpoint holds on purpose; so are ignored files and files in no repository'),
    lastCheckpointId: z
      .string()
      .nullable()
      .describe('taken by this call, with the work in `changed`; null: none was taken'),
  });
export type DiscardedFork = z.infer<ReturnType<typeof discardedFork>>;

const leftovers = () =>
  z.object({
    entries: z
      .array(z.object({ path: z.string(), files: count, bytes: count }))
      .describe('the first 100; paths are relative to the projects root'),
    files: count,
    bytes: count,
  });

const cleaned = () =>
  z.object({
    removed: leftovers().describe('shadows and lists that no session needs any more'),
    kept: leftovers().describe('what may hold files of the user, or could not be removed'),
  });
export type Cleaned = z.infer<ReturnType<typeof cleaned>>;

export const endSessionAnswer = () =>
  z.object({
    sessionId: z.string(),
    expiresAt: z.number().describe('Unix seconds'),
    status: z.enum(['PLANNED', 'ENDED']).describe('PLANNED: it was a dry run, and nothing was changed'),
    discarded: discardedFork().optional().describe('with discard'),
    cleaned: cleaned()
      .optional()
      .describe('without discard: what Walkback left in the sandbox; absent: the sandbox did not answer'),
  });
export type EndSessionAnswer = z.infer<ReturnType<typeof endSessionAnswer>>;

export const progressAnswer = () =>
  z.object({
    progress: z
      .object({
        doing: work(),
        done: count.describe('files, or bytes'),
        of: count.optional().describe('absent while nobody knows'),
        startedAt: z.string(),
        at: z.string().describe('when this was told'),
      })
      .nullable()
      .describe('null: no long work has told anything in the last 30 seconds'),
    search: searchProgress()
      .nullable()
      .optional()
      .describe('with requestId; null: no search with this id has begun'),
  });
export type ProgressAnswer = z.infer<ReturnType<typeof progressAnswer>>;
export type Progress = NonNullable<ProgressAnswer['progress']>;

export const timelineAnswer = () =>
  z.object({
    session: sessionAnswer(),
    checkpoints: z.array(timelineCheckpoint()).describe('newest first'),
    messages: z.array(
      z.object({
        messageId: z.string(),
        order: z.int(),
        checkpointId: z
          .string()
          .nullable()
          .describe('the checkpoint that a rollback to the message goes to; null: expired'),
        discarded: z.boolean().describe('a rollback left its work behind'),
        role: z.string().optional(),
        title: z.string().optional().describe('one line; absent when none was given'),
      }),
    ),
    cursor,
  });
export type TimelineAnswer = z.infer<ReturnType<typeof timelineAnswer>>;
export type TimelineMessage = TimelineAnswer['messages'][number];

export const forkSessionAnswer = () =>
  z.object({
    sessionId: z.string().describe('the fork'),
    sandboxId: z.string(),
    checkpointId: z.string().describe('its first checkpoint'),
    epoch: z.int(),
    projectsRoot: z.string(),
    project: z.string().optional().describe('the project of its sagas; absent: none'),
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

export const repositoryInfo = () =>
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

export const directoryListing = () =>
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
    prompt: z
      .string()
      .describe(
        'for the system prompt; a name with an end of line or an invisible character is quoted as in JSON',
      ),
    repositories: z.array(repositoryInfo()),
    directories: z.array(directoryListing()),
  });
export type ContextAnswer = z.infer<ReturnType<typeof contextAnswer>>;

export const listCopiesAnswer = () =>
  z.object({
    copies: z
      .array(
        z.object({
          sandboxId: z.string(),
          sessionId: z.string().describe('what it is a copy of'),
          requestId: z.string().describe('the requestId of the rehydrate or fork that made it'),
          madeFor: z
            .enum(['review', 'resume', 'fork'])
            .describe('after resume and fork: the session has ended, or moved on'),
          state: z.enum(['idle', 'busy']).describe('busy: it is being built, rolled back, or verified in'),
          checkpointId: z.string().nullable().describe('where it stands; null: expired'),
          messageId: z.string().nullable(),
          projectsRoot: z.string().nullable().describe('where its repositories are'),
          startedAt: z.string(),
          endsAt: z.string().nullable().describe('when it ends by itself'),
        }),
      )
      .describe('oldest first'),
  });
export type ListCopiesAnswer = z.infer<ReturnType<typeof listCopiesAnswer>>;
export type ListedCopy = ListCopiesAnswer['copies'][number];

export const deleteCopyAnswer = () =>
  z.object({
    sandboxId: z.string(),
    deleted: z.boolean().describe('false: it was gone already, or it was a dry run'),
    work: z
      .object({
        checkpointId: z.string().nullable().describe('that the copy shows, and is compared with'),
        changed: z.array(z.string()).describe('repositories with work that this checkpoint does not hold'),
        uncaptured: z
          .array(uncaptured())
          .describe('work that no checkpoint could hold, or why it is not known'),
      })
      .optional()
      .describe('with dryRun, where the copy is there'),
  });
export type DeleteCopyAnswer = z.infer<ReturnType<typeof deleteCopyAnswer>>;
