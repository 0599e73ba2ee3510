/** Requests and reports of captures (`sandbox/src/wire/capture.rs`). */
import * as z from 'zod';
import { count } from '../answer-fields.ts';
import { hostChange } from '../change-answers.ts';
import { repositoryInfo } from '../checkpoint-answers.ts';
import { id } from './states.ts';

const name = z.string();

export const captureWorkingTree = z.strictObject({
  kind: z.literal('capture-working-tree'),
  sessionId: z.string(),
  maxFileBytes: z.int().min(0),
  maxDepth: z.int().min(0),
  include: z.array(name).describe('patterns of ignored files that are captured'),
  exclude: z.array(name).describe('patterns of files that are not captured'),
  known: z.array(name).describe('repositories that the session knows'),
  targets: z
    .array(z.strictObject({ path: name, tree: z.string() }))
    .describe('what is about to be restored: uncaptured files in its way are captured'),
});

export const capture = z.strictObject({
  kind: z.literal('capture'),
  sessionId: z.string(),
  call: z.string().describe('names this call; its folder in the sandbox has this name'),
  tag: z.string().describe('names the checkpoint in the shadow'),
  message: z.string(),
  reason: z.string(),
  maxFileBytes: z.int().min(0),
  maxDepth: z.int().min(0),
  lockWaitSeconds: z.int().min(0),
  include: z.array(name),
  exclude: z.array(name),
  known: z
    .array(
      z.strictObject({
        path: name,
        commit: id,
        tree: id,
        meta: id,
        base: z.string().nullable(),
        baseCommit: id.nullable(),
        next: z.enum(['append', 'restart', 'rebase']),
        isGone: z.boolean().describe('it was not there at the checkpoint before'),
      }),
    )
    .describe('what the store has'),
  mentioned: z.array(name).describe('seen but never captured'),
  knownBases: z.array(z.string()).describe('names of bases that are stored'),
  targets: z.array(z.strictObject({ path: name, commit: id, tree: id, meta: id })),
  changes: z.boolean().describe('records what changed since the known states'),
  limits: z.strictObject({
    inlineBytes: z.int().min(0).describe('of bundles in the answer itself'),
    carryBytes: z.int().min(0).describe('of bundles that the caller reads; larger ones are uploaded'),
    uploadWaitSeconds: z.int().min(0),
    recordBytes: z.int().min(0).describe('of the record of one repository'),
    recordsBytes: z.int().min(0),
  }),
});

export const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
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

export const captureWorkingTreeReport = z.strictObject({
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

export const captureReport = z.strictObject({
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
      carry: z.enum(['inline', 'file', 'upload', 'stream']),
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

/** The second answer of a capture: what came of its uploads. */
export const uploadReport = z.strictObject({
  problem: z.string().optional().describe('absent: everything was sent'),
});
