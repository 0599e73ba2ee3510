/**
 * Schemas of the items of the Sessions table, checked when they are read. Unknown fields are kept: a later
 * release may have added them, and an item that is read is written again.
 */
import * as z from 'zod';
import { work } from '../../../contract/progress.ts';
import type { ChainLink, StoredBase, StoredUpload } from '../../../core/checkpoint/bundles.ts';
import type { RehydrateJournal, ReviewCopy, RollbackJournal } from '../../../core/checkpoint/journals.ts';
import type { Checkpoint, Message, Session, WorkProgress } from '../../../core/checkpoint/model.ts';
import type { CheckpointOutline } from '../../../core/checkpoint/ports/stores.ts';
import type { Stored } from '../table-reads.ts';
import { reader } from './item-reader.ts';

const count = z.number().int().min(0);
const seconds = z.number();

const busy = z.looseObject({
  kind: z.enum(['rollback', 'resume']),
  requestId: z.string(),
  untilMs: z.number(),
});

const session = () =>
  z.looseObject({
    format: z.int().min(1),
    sessionId: z.string(),
    epoch: count,
    version: count,
    seq: count,
    headSeq: count,
    isLine: z.literal(true).optional(),
    messageCount: count,
    sandboxId: z.string(),
    projectsRoot: z.string(),
    template: z.string().optional(),
    include: z.array(z.string()),
    exclude: z.array(z.string()),
    maxFileBytes: z.number(),
    retentionDays: z.number(),
    metadata: z.record(z.string(), z.string()),
    tenant: z.string().optional(),
    project: z.string().optional(),
    status: z.enum(['active', 'ended']),
    lines: z.looseObject({ added: count, deleted: count }),
    repositoryCount: count,
    busy: busy.optional(),
    begunRewind: z.looseObject({ requestId: z.string(), epoch: count }).optional(),
    requestHash: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    expiresAt: seconds,
  });

const repository = z.looseObject({
  path: z.string(),
  state: z.enum(['captured', 'absent', 'failed']),
  commit: z.string().optional(),
  tree: z.string().optional(),
  meta: z.string().optional(),
  changed: z.boolean(),
  change: z.enum(['changed', 'created', 'removed']).optional(),
  bundleBytes: count,
  chainId: z.string().optional(),
  link: count.optional(),
  base: z.string().optional(),
  baseCommit: z.string().optional(),
  baseOwner: z.string().optional(),
  stash: z.array(z.string()).optional(),
});

const uncaptured = z.looseObject({ path: z.string(), reason: z.string(), sizeBytes: z.number().optional() });

const bundle = { key: z.string(), sizeBytes: count, sha256: z.string() };
const part = z.looseObject({ at: count, bytes: count });
const saidMessage = z.looseObject({
  role: z.string(),
  title: z.string().optional(),
  text: z.string().optional(),
});
const content = z.looseObject({
  message: saidMessage.optional(),
  forMessage: saidMessage.optional(),
  tool: z.looseObject({ name: z.string(), input: z.string().optional() }).optional(),
  changes: z
    .array(
      z.looseObject({
        path: z.string(),
        files: count.nullable(),
        added: count.nullable(),
        deleted: count.nullable(),
        part: part.optional(),
      }),
    )
    .optional(),
  object: z.looseObject(bundle).optional(),
  said: part.optional(),
});

const askedBy = z.looseObject({
  name: z.string(),
  person: z.looseObject({ iss: z.string(), sub: z.string() }).optional(),
});

const checkpointRef = z.looseObject({ sessionId: z.string(), seq: count });

const checkpoint = z.looseObject({
  sessionId: z.string(),
  checkpointId: z.string(),
  seq: count,
  parentSeq: count.nullable(),
  epoch: count,
  messageId: z.string().nullable(),
  messageOrder: count.nullable(),
  forMessageId: z.string().optional(),
  unowned: z.literal(true).optional(),
  toolExecutionId: z.string(),
  reason: z.string(),
  complete: z.boolean(),
  repositories: z.array(repository),
  failures: z.array(uncaptured),
  skipped: z.array(uncaptured),
  lateFiles: z.array(z.string()).optional(),
  lateFilesNotListed: count.optional(),
  content: content.optional(),
  mergedFrom: checkpointRef.optional(),
  takesBack: z.array(count).optional(),
  forkedFrom: checkpointRef.optional(),
  by: askedBy.optional(),
  halfWritten: z.literal(true).optional(),
  sandboxId: z.string(),
  detached: z.boolean(),
  createdAt: z.string(),
  expiresAt: seconds,
});

export const treeNodeFields = checkpoint.pick({
  seq: true,
  parentSeq: true,
  messageId: true,
  messageOrder: true,
  unowned: true,
  checkpointId: true,
  reason: true,
  complete: true,
  detached: true,
  mergedFrom: true,
  takesBack: true,
  forkedFrom: true,
  halfWritten: true,
  createdAt: true,
});

const message = () =>
  z.looseObject({
    id: z.string(),
    order: count,
    firstSeq: count,
    lastSeq: count,
    lastId: z.string(),
    role: z.string().optional(),
    title: z.string().optional(),
    textSeq: count.optional(),
  });

const link = () =>
  z.looseObject({
    sessionId: z.string(),
    repositoryPath: z.string(),
    chainId: z.string(),
    link: count,
    commit: z.string(),
    previous: z.string().nullable(),
    bundle: z.looseObject({ ...bundle, at: count.optional() }),
    expiresAt: seconds,
  });

const base = () =>
  z.looseObject({
    ...bundle,
    name: z.string(),
    owner: z.string(),
    commit: z.string(),
    shallow: z.boolean(),
    partial: z.boolean(),
    expiresAt: seconds,
  });

const upload = () =>
  z.looseObject({
    key: z.string(),
    place: z.union([
      z.looseObject({ sessionId: z.string(), chainId: z.string() }),
      z.looseObject({ base: z.string(), owner: z.string() }),
      z.looseObject({ linksOf: z.string() }),
      z.looseObject({ contentOf: z.string() }),
    ]),
    expiresAt: seconds,
  });

const journal = {
  sessionId: z.string(),
  requestId: z.string(),
  requestHash: z.string(),
  targetSeq: count,
  startedAt: z.string(),
  updatedAt: z.string(),
  expiresAt: seconds,
  error: z.looseObject({ name: z.string(), message: z.string() }).optional(),
};

const rollback = () =>
  z.looseObject({
    ...journal,
    phase: z.enum(['started', 'writing', 'done', 'failed']),
    epoch: count,
    sandboxId: z.string(),
    detached: z.boolean(),
    filesOnly: z.boolean(),
    allowPartial: z.boolean(),
    undoSeq: count.optional(),
    by: askedBy.optional(),
    captures: count,
  });

const rehydrate = () =>
  z.looseObject({
    ...journal,
    phase: z.enum(['started', 'created', 'done', 'failed']),
    mode: z.enum(['review', 'resume']),
    attempt: count,
    sandboxTimeoutMs: z.number(),
    sandboxId: z.string().optional(),
  });

const copy = () =>
  z.looseObject({
    sessionId: z.string(),
    sandboxId: z.string(),
    headSeq: count,
    version: count,
    busy: busy.optional(),
    expiresAt: seconds,
  });

const progress = () =>
  z.looseObject({
    sessionId: z.string(),
    doing: work(),
    done: count,
    of: count.optional(),
    startedAt: z.string(),
    at: z.string(),
    expiresAt: seconds,
  });

export const readSession = reader<Session>(session);
export const readLink = reader<ChainLink>(link);
export const readBase = reader<StoredBase>(base);
export const readUpload = reader<StoredUpload>(upload);
export const readRollback = reader<RollbackJournal>(rollback);
export const readRehydrate = reader<RehydrateJournal>(rehydrate);
export const readProgress = reader<WorkProgress>(progress);
export const readCopy = reader<ReviewCopy>(copy);

/** The item of a null `messageId` has no such attribute, because it is the key of an index. */
const withMessage = (item: Stored): Stored => ({ ...item, messageId: item['messageId'] ?? null });
const wholeCheckpoint = reader<Checkpoint>(() => checkpoint);
const node = reader<z.infer<typeof treeNodeFields>>(() => treeNodeFields);
export const readCheckpoint = (item: Stored): Checkpoint => wholeCheckpoint(withMessage(item));
export const readTreeNode = (item: Stored) => node(withMessage(item));

const outline = () =>
  z.looseObject({
    ...treeNodeFields.shape,
    epoch: count,
    toolExecutionId: z.string(),
    sandboxId: z.string(),
    createdAt: z.string(),
    lines: z.looseObject({ added: count, deleted: count }),
    tool: z.string().optional(),
    by: askedBy.optional(),
  });

const tool = reader<{ node: CheckpointOutline }>(() => z.looseObject({ seq: count, node: outline() }));

export const readOutline = (item: Stored): CheckpointOutline => tool(item).node;

const storedMessage = reader<z.infer<ReturnType<typeof message>>>(message);
export const readMessage = (item: Stored): Message => {
  const { id, order, firstSeq, lastSeq, lastId, role, title, textSeq } = storedMessage(item);
  return {
    messageId: id,
    order,
    firstSeq,
    lastSeq,
    lastId,
    ...(role !== undefined && { role }),
    ...(title !== undefined && { title }),
    ...(textSeq !== undefined && { textSeq }),
  };
};
