/** Reports of the program in the sandbox (`sandbox/src/wire`). They are claims of the sandbox. */
import * as z from 'zod';
import { count } from '../answer-fields.ts';
import { hostChange } from '../change-answers.ts';
import { directoryListing, repositoryInfo } from '../checkpoint-answers.ts';
import { SANDBOX_WORK } from '../progress.ts';
import { captureReport, captureWorkingTreeReport, objectId } from './capture.ts';
import { composeReport } from './compose.ts';
import { captureLateReport, lateStoredReport } from './late.ts';
import type { SandboxCommand } from './requests.ts';

const hello = z.strictObject({
  build: z.string().describe('SHA-256 of the sources'),
  architecture: z.string(),
});

/** A line of progress on standard error (`sandbox/src/wire/progress.rs`), after `walkback-progress `. */
export const sandboxProgress = z.strictObject({
  doing: z.enum(SANDBOX_WORK),
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

const source = z.union([
  z.strictObject({ node: count.describe('its place in the request'), path: z.string() }),
  z.strictObject({
    commit: objectId.describe("of the repository's own history"),
    author: z.string(),
    authoredAt: count.describe('seconds since 1970'),
    summary: z.string(),
    path: z.string(),
  }),
]);

const blame = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('missing'),
    nodes: z.array(count).describe('whose captures are not in the sandbox'),
    bases: z.array(objectId).describe('those of the request that are'),
  }),
  z.strictObject({ kind: z.literal('absent'), removedBy: source.optional() }),
  ...(['directory', 'link', 'submodule', 'binary'] as const).map((kind) =>
    z.strictObject({ kind: z.literal(kind) }),
  ),
  z.strictObject({ kind: z.literal('too-large'), sizeBytes: count }),
  z.strictObject({
    kind: z.literal('lines'),
    total: count.describe('of the file'),
    lines: z.array(z.strictObject({ text: z.string(), source: count, lineThere: count })),
    sources: z.array(source).describe('what lines came with, and the name of the file there'),
    ownCommits: z.array(objectId).describe("of nodes, from which the repository's own history was read"),
  }),
]);

const findFile = z.strictObject({
  paths: z
    .array(z.string())
    .describe('of repositories whose trees have it as something else than a directory'),
});

const countLooseFiles = z.strictObject({
  files: count.optional().describe('absent: too many to be counted'),
  bytes: count.optional(),
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
            kind: z.enum(['conflict', 'changed', 'missing-objects', 'unsafe-path', 'interrupted', 'failed']),
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
      reached: count.describe(
        'paths and parts of the host state that were at the target; 0: nothing was written',
      ),
      kept: z.array(z.string()).describe('changed since, by paths in the projects root; the first ones'),
      keptNotListed: count,
    })
    .optional()
    .describe('of a restore that settles; absent when it could not look'),
});

const preflight = z.strictObject({
  git: z.string(),
  user: z.string(),
  hasCurl: z.boolean(),
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
  blame,
  'find-file': findFile,
  'count-loose-files': countLooseFiles,
  'capture-working-tree': captureWorkingTreeReport,
  capture: captureReport,
  'capture-late': captureLateReport,
  'late-stored': lateStoredReport,
  compose: composeReport,
  preflight,
  'ask-remotes': askRemotes,
  run,
  leftovers,
  restore,
} as const satisfies Record<SandboxCommand['kind'], z.ZodType>;

/** An answer that is an error instead of a report. */
export const sandboxError = z.strictObject({ name: z.string(), message: z.string() });
