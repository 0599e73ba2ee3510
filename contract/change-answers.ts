/** Answers about changes: between two points, and of one checkpoint or message. */
import * as z from 'zod';
import { count, cursor, uncaptured } from './answer-fields.ts';

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
          .describe(
            'commits that come with HEAD and that nothing held before; absent: HEAD stays at its commit',
          ),
        commitsLeft: count
          .nullable()
          .optional()
          .describe('for a detached HEAD: commits that nothing holds afterwards'),
      })
      .optional()
      .describe('HEAD is at another branch or commit'),
    branches: z
      .array(
        z.object({
          name: z
            .string()
            .describe(
              'for a ref that is not a branch and that HEAD stood on, the whole name: refs/remotes/...',
            ),
          from: z
            .string()
            .nullable()
            .describe('its commit, or the ref that it is an alias of: refs/heads/...; null: it appears'),
          to: z.string().nullable().describe('likewise; null: it vanishes'),
          commitsLeft: count.nullable().describe('commits that nothing holds afterwards; null: not known'),
        }),
      )
      .describe('branches that appear, vanish or move: the first of them, by name'),
    branchesLeft: count.optional().describe('how many more branches appear, vanish or move'),
    index: z
      .object({ entries: count.nullable().describe('null: not known') })
      .optional()
      .describe('entries of the index that differ'),
    partialCheckout: z
      .object({ from: z.string().nullable(), to: z.string().nullable() })
      .optional()
      .describe('rules of `git sparse-checkout`, at most 2,000 characters; null: everything is checked out'),
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
    from: z.string().optional().describe('the path before it was renamed'),
    change: z
      .enum(['added', 'deleted', 'modified', 'renamed', 'retyped'])
      .describe('retyped: a file is a symlink now, or the reverse'),
    added: count.nullable().describe('lines; null: binary, or not counted'),
    deleted: count.nullable(),
    binary: z.boolean().describe('it has no lines to show; also true for a file of more than 4 MiB'),
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
          change: z
            .enum(['created', 'removed'])
            .optional()
            .describe('the repository is on one side only, with files or without'),
        }),
      )
      .describe('the repositories of both sides, also those that are equal'),
    warnings: z.array(z.string()),
  });
export type DiffAnswer = z.infer<ReturnType<typeof diffAnswer>>;

const repositoryChanges = () =>
  z.object({
    path: z.string(),
    change: z.enum(['changed', 'created', 'removed']).describe('created: no earlier checkpoint has it'),
    counts: z
      .object({ files: count.nullable(), added: count.nullable(), deleted: count.nullable() })
      .nullable()
      .describe('counts of all files; null: not kept, or not counted'),
    files: z.array(fileChange()),
    host: hostChange().optional().describe('what changed beside files'),
    patch: z.string().describe('unified, with the repository in its paths'),
    truncated: z.boolean().describe('files or patch are not whole'),
    note: z.string().optional().describe('why something is missing'),
  });

export const calledTool = () =>
  z.object({
    name: z.string(),
    input: z.string().optional().describe('text as it was given, anything else as JSON'),
    truncated: z.boolean(),
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
    madeBy: calledTool()
      .optional()
      .describe(
        'the tool call whose work this is: the checkpoint before was taken for it; absent: not known',
      ),
    tool: calledTool()
      .optional()
      .describe('the tool call that it was taken before; its work is in the next checkpoint'),
    forMessageId: z.string().optional().describe('the message of the tool call that it was taken before'),
    repositories: z.array(repositoryChanges()).describe('those that changed'),
    failures: z
      .array(uncaptured())
      .optional()
      .describe('what it does not hold; when there are many, the last one says how many more'),
    skipped: z
      .array(uncaptured())
      .optional()
      .describe('left out by a rule; when there are many, the last one says how many more'),
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
