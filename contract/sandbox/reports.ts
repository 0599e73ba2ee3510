/** Reports of the program in the sandbox (`sandbox/src/wire`). They are claims of the sandbox. */
import * as z from 'zod';
import { count } from '../answer-fields.ts';
import { hostChange } from '../change-answers.ts';
import { directoryListing, repositoryInfo } from '../checkpoint-answers.ts';
import type { SandboxCommand } from './requests.ts';

const hello = z.strictObject({
  build: z.string().describe('SHA-256 of the sources'),
  architecture: z.string(),
});

/** A line of progress on standard error (`sandbox/src/wire/progress.rs`), after `walkback-progress `. */
export const sandboxProgress = z.strictObject({
  doing: z.literal('files'),
  done: count,
  of: count.optional(),
});

const survey = z.strictObject({
  repositories: z.array(repositoryInfo().strict()),
  skipped: z.array(z.strictObject({ path: z.string(), reason: z.string() })),
  around: z
    .string()
    .optional()
    .describe('the repository that the projects root lies in, where the root holds none'),
});

const directories = z.strictObject({ directories: z.array(directoryListing().strict()) });

const diff = z.strictObject({
  repositories: z.array(
    z.strictObject({
      path: z.string(),
      diff: z.string(),
      truncated: z.boolean(),
      files: count,
      added: count,
      deleted: count,
      missing: z.boolean().describe('the sandbox lacks one of the captures'),
      host: hostChange().optional(),
    }),
  ),
});

const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const uncaptured = z.strictObject({ path: z.string(), reason: z.string() });
const skipped = uncaptured.extend({ sizeBytes: count.optional() });

const hostState = z.strictObject({
  meta: objectId.describe('the commit that holds the state of the repository itself'),
  tips: z.array(objectId).describe('the parents of that commit'),
  headKind: z.enum(['none', 'unreadable', 'unborn', 'branch', 'detached']),
  branch: z.string().optional(),
  head: objectId.optional(),
  shallow: z.boolean(),
  partial: z.boolean(),
  base: z.string().optional().describe('the name of the bundle with the whole history'),
  stash: z.array(objectId).describe('the newest entries, newest first'),
});

const captureWorkingTree = z.strictObject({
  repositories: z.array(
    z.strictObject({
      path: z.string(),
      objectFormat: z.enum(['sha1', 'sha256']),
      tree: objectId.optional().describe('absent: not captured, and the failure says why'),
      modes: objectId.optional().describe('the list of the sidecar; absent when it is empty'),
      empty: objectId.optional(),
      leftOut: objectId.optional(),
      host: hostState.optional().describe('absent: not captured'),
      failures: z.array(uncaptured),
      skipped: z.array(skipped),
    }),
  ),
  skipped: z.array(skipped),
});

const place = count.describe('of the repository in the list of all');

const capture = z.strictObject({
  repositories: z.array(
    z.strictObject({
      path: z.string(),
      state: z.enum(['captured', 'failed', 'absent']),
      capture: z
        .strictObject({
          commit: objectId,
          tree: objectId,
          meta: objectId,
          chain: z
            .enum(['append', 'restart', 'rebase'])
            .optional()
            .describe('absent: the capture before is this one'),
          base: z.string().optional(),
          baseCommit: objectId.optional(),
          missingTarget: z.boolean(),
          stash: z.array(objectId),
        })
        .optional(),
      info: repositoryInfo()
        .pick({ headKind: true, shallow: true, partial: true, objectFormat: true })
        .extend({ branch: z.string().optional(), head: objectId.optional() })
        .strict()
        .optional(),
      changes: z
        .strictObject({
          host: hostChange().optional(),
          isCut: z.boolean(),
          totals: z.string().optional(),
          problems: z.array(z.string()),
        })
        .optional(),
      failures: z.array(uncaptured),
      skipped: z.array(skipped),
    }),
  ),
  skipped: z.array(skipped),
  bundles: z.array(
    z.strictObject({
      repository: place,
      kind: z.enum(['link', 'base']),
      sizeBytes: count,
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      carry: z.enum(['inline', 'file', 'upload']),
    }),
  ),
  records: z.array(
    z.strictObject({
      repository: place,
      sizeBytes: count,
      isPacked: z.boolean(),
      isCut: z.boolean(),
      carry: z.enum(['inline', 'file']),
    }),
  ),
});

const restore = z.strictObject({
  outcome: z.enum(['applied', 'planned', 'refused', 'reverted', 'broken']),
  repositories: z
    .array(
      z.strictObject({
        path: z.string(),
        written: count,
        deleted: count,
        host: hostChange().optional(),
        verified: z
          .strictObject({
            tree: objectId,
            meta: objectId,
            apart: z.array(z.string()).describe('in what it may differ from the target'),
          })
          .optional()
          .describe('what was read back; absent when nothing was'),
        paths: z.array(z.strictObject({ path: z.string(), change: z.enum(['write', 'delete']) })),
        problems: z.array(
          z.strictObject({
            kind: z.enum(['conflict', 'changed', 'missing-objects', 'unsafe-path', 'failed']),
            message: z.string(),
          }),
        ),
        warnings: z.array(z.string()),
      }),
    )
    .describe('in the order of the request'),
  asides: z.array(
    z.strictObject({
      path: z.string().describe('of the repository'),
      directory: z.string(),
      late: z.array(z.string()),
      open: z.array(z.string()),
    }),
  ),
  warnings: z.array(z.string()),
  settled: z
    .strictObject({
      end: z.enum(['target', 'undo', 'none']).describe('none: nothing had reached the target'),
      reached: count.describe('paths and parts of the host state that are at the target'),
      unreached: count,
      kept: z.array(z.string()).describe('changed since, by paths in the projects root; the first ones'),
      keptNotListed: count,
    })
    .optional()
    .describe('of a restore that settles; absent when it could not look'),
});

/** The second answer of a capture: what came of its uploads. */
export const uploadReport = z.strictObject({
  problem: z.string().optional().describe('absent: everything was sent'),
});

const preflight = z.strictObject({
  bash: z.string(),
  git: z.string(),
  user: z.string(),
  missing: z.array(z.string()),
  hasGnuFind: z.boolean(),
  needs: z.array(z.strictObject({ tool: z.string(), at: z.string().optional() })),
  root: z.enum(['directory', 'missing', 'other']),
  canMake: z.boolean().describe('whether the root could be made where the call began'),
  isWritable: z.boolean(),
  hasTemporary: z.boolean(),
  freeBytes: count.optional(),
  freeInodes: count.optional(),
  unreadable: z.array(z.string()),
});

const askRemotes = z.strictObject({
  remotes: z.array(z.strictObject({ url: z.string(), exitCode: z.int(), said: z.string() })),
});

const run = z.strictObject({
  ended: z
    .strictObject({
      exitCode: z.int(),
      milliseconds: count,
      output: z.string(),
      tail: z.string().optional(),
    })
    .optional()
    .describe('absent: the directory is not there'),
});

const leftovers = z.strictObject({
  leftovers: z.array(
    z.strictObject({
      path: z.string(),
      sessionId: z.string().optional(),
      fate: z.enum(['remove', 'needed', 'keep']),
      files: count,
      bytes: count,
    }),
  ),
});

/** What each command answers. */
export const SANDBOX_REPORTS = {
  hello,
  survey,
  directories,
  diff,
  'capture-working-tree': captureWorkingTree,
  capture,
  preflight,
  'ask-remotes': askRemotes,
  run,
  leftovers,
  restore,
} as const satisfies Record<SandboxCommand['kind'], z.ZodType>;

/** An answer that is an error instead of a report. */
export const sandboxError = z.strictObject({ name: z.string(), message: z.string() });
