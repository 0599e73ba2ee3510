/**
 * The inputs of the checkpoint functions. They are strict: an unknown field is refused, and the message
 * names it (C10).
 */

import * as z from 'zod';
import {
  absolutePath,
  callersId,
  checkpointId,
  decidedEpoch,
  id,
  joinedRequestId,
  line,
  listedPatterns,
  metadata,
  patterns,
  project,
  repositoryPaths,
  sandboxId,
  template,
} from './fields.ts';
import { askerIfPerson } from './identity.ts';
import { jsonValue } from './json.ts';
import { GIB } from './sizes.ts';
import { DAY_MS } from './times.ts';

const limit = z.int().min(1).max(200).optional();

const sandboxLife = z
  .int()
  .min(10_000)
  .max(DAY_MS)
  .optional()
  .describe('life of the new sandbox; default 1 hour');

const oneRepository = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe('one repository only, relative to the projects root');

export const startSessionInput = () =>
  z.strictObject({
    sessionId: id.optional().describe('the same id again, with the same meaning, starts nothing new'),
    sandboxId,
    projectsRoot: absolutePath.describe('the directory in the sandbox that the repositories are in'),
    template: template.optional().describe('what a rehydrated sandbox is made from'),
    include: listedPatterns.optional().describe('captured although git ignores them'),
    exclude: patterns.optional().describe('not captured although git does not ignore them'),
    maxFileBytes: z
      .int()
      .min(1)
      .max(4 * GIB)
      .optional()
      .describe('larger files that git does not track are left out; default 256 MiB'),
    looseFiles: z
      .boolean()
      .optional()
      .describe(
        'also captures what lies in no repository, as repository "." without git; default: only where there is no repository',
      ),
    retentionDays: z.int().min(1).max(3650).optional().describe('default 30'),
    metadata: metadata.optional().describe('for your own use; at most 50 entries'),
    tenant: id
      .optional()
      .describe('sessions of one tenant share stored histories; without it a session shares none'),
    project: project.optional().describe('the project of its sagas, unless a saga is started with its own'),
  });
export type StartSessionInput = z.output<ReturnType<typeof startSessionInput>>;

export const checkpointInput = () =>
  z.strictObject({
    sessionId: id,
    epoch: z.int().min(1).optional().describe('the epoch of the last answer; an older one is StaleEpoch'),
    messageId: id
      .optional()
      .describe(
        'the last message whose work is in the repositories; all work since the checkpoint before is then the work of this message; ' +
          'default: the message that the checkpoint before was taken for, else the message of that checkpoint; ' +
          'where no message is known yet, forMessageId, else toolExecutionId',
      ),
    forMessageId: id
      .optional()
      .describe(
        'before a tool: the message that the coming operation belongs to; what the next checkpoint finds is the work of this message',
      ),
    toolExecutionId: callersId.describe(
      'the coming operation; the same id answers the same checkpoint, until somebody rolls back',
    ),
    reason: line(128),
    message: z
      .strictObject({
        role: z.string().min(1),
        title: z.string().optional().describe('one line; default: the first line of the text'),
        text: z.string().optional(),
      })
      .optional()
      .describe(
        'the message of forMessageId, else of messageId; to be read later with the checkpoints of that message; redact it first; ' +
          '16 KiB of its text are kept',
      ),
    tool: z
      .strictObject({
        name: z.string().min(1),
        input: jsonValue.optional(),
      })
      .optional()
      .describe('the coming tool call, to be read later; redact it first; 16 KiB of its input are kept'),
  });
export type CheckpointInput = z.output<ReturnType<typeof checkpointInput>>;

export const rollbackInput = () =>
  z
    .strictObject({
      sessionId: id,
      messageId: id.optional().describe('its last checkpoint is the target'),
      checkpointId: checkpointId
        .optional()
        .describe(
          'the target; with messageId, of the plan: this checkpoint of that message, also when it has another last one by now',
        ),
      requestId: id.describe('the same id finishes or answers the same rollback'),
      epoch: decidedEpoch(),
      sandboxId: sandboxId.optional().describe('the sandbox of a review copy, to roll that copy back'),
      dryRun: z.boolean().optional().describe('answers the plan and writes nothing'),
      filesOnly: z.boolean().optional().describe('leaves HEAD, branches and index as they are'),
      allowPartial: z.boolean().optional().describe('takes a target that is not complete'),
      paths: repositoryPaths
        .optional()
        .describe('only these: files, directories or whole repositories, relative to the projects root'),
      ...askerIfPerson(),
    })
    .refine((value) => value.messageId !== undefined || value.checkpointId !== undefined, {
      path: ['messageId'],
      error: 'give messageId or checkpointId',
    })
    .refine((value) => value.paths === undefined || value.filesOnly === undefined, {
      path: ['filesOnly'],
      error:
        'leave it out beside paths: files never move HEAD, branches or index, whole repositories always do',
    });
export type RollbackInput = z.output<ReturnType<typeof rollbackInput>>;

export const revertInput = () =>
  z
    .strictObject({
      sessionId: id,
      messageId: id.optional().describe('the message whose work is taken back; later work stays'),
      checkpointIds: z
        .array(checkpointId)
        .min(1)
        .max(50)
        .optional()
        .describe('what each of these checkpoints changed since the one before it is taken back'),
      paths: repositoryPaths
        .optional()
        .describe('only in these paths; without messageId and checkpointIds: all that the session did there'),
      requestId: id.describe('the same id finishes or answers the same revert'),
      epoch: decidedEpoch(),
      dryRun: z.boolean().optional().describe('answers the plan, with conflicts, and writes nothing'),
      ...askerIfPerson(),
    })
    .refine((value) => value.messageId === undefined || value.checkpointIds === undefined, {
      path: ['messageId'],
      error: 'give messageId or checkpointIds, not both',
    })
    .refine(({ messageId, checkpointIds, paths }) => (messageId ?? checkpointIds ?? paths) !== undefined, {
      path: ['messageId'],
      error: 'give messageId, checkpointIds or paths',
    });
export type RevertInput = z.output<ReturnType<typeof revertInput>>;

export const mergeInput = () =>
  z
    .strictObject({
      from: id.describe('the session whose work is merged: what its last checkpoint holds'),
      into: id.describe(
        'the session that the work comes into; one of the two is a fork of the other, directly or through other forks, or both are forks of a third',
      ),
      paths: repositoryPaths
        .optional()
        .describe('only these paths; the next merge looks at all of them again'),
      markers: z
        .boolean()
        .optional()
        .describe('only into a fork: conflicts are written into its files, to be resolved there'),
      allowMarkers: z
        .boolean()
        .optional()
        .describe('merges files that still have conflict markers; without it they are conflicts'),
      expectUnchanged: z
        .boolean()
        .optional()
        .describe(
          'refuses with TargetMoved unless `into` is as it was at the last checkpoint that both have: what comes is then exactly what `from` holds',
        ),
      fromCheckpointId: checkpointId
        .optional()
        .describe(
          '`from.checkpointId` of the plan: when `from` has another last checkpoint by now, the answer is SourceMoved, and nothing is changed',
        ),
      requestId: id.describe('the same id finishes or answers the same merge'),
      epoch: decidedEpoch(),
      dryRun: z.boolean().optional().describe('answers the plan, with conflicts, and writes nothing'),
    })
    .refine(({ from, into }) => from !== into, {
      path: ['into'],
      error: 'must be another session than from',
    });
export type MergeInput = z.output<ReturnType<typeof mergeInput>>;

export const forkSessionInput = () =>
  z
    .strictObject({
      sessionId: id.describe('the source'),
      messageId: id.optional(),
      checkpointId: checkpointId.optional().describe('without either: the head'),
      requestId: id.describe('the same id answers the same fork'),
      template: template.optional().describe('the template of its sandbox; default: that of the source'),
      timeoutMs: sandboxLife,
      guidance: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe('what the fork is for: the first lines of the prompt'),
      project: project.optional().describe('the project of its sagas; default: that of the source'),
      metadata: metadata.optional().describe('for your own use; at most 50 entries'),
    })
    .refine((value) => value.messageId === undefined || value.checkpointId === undefined, {
      path: ['messageId'],
      error: 'give messageId or checkpointId, not both',
    });
export type ForkSessionInput = z.output<ReturnType<typeof forkSessionInput>>;

export const endSessionInput = () =>
  z
    .strictObject({
      sessionId: id,
      discard: z
        .boolean()
        .optional()
        .describe(
          'only a fork: its sandbox is killed as well; work that no checkpoint holds gets a last checkpoint first',
        ),
      dropUncaptured: z
        .boolean()
        .optional()
        .describe('with discard: takes no last checkpoint, and destroys work that no checkpoint holds'),
      dryRun: z.boolean().optional().describe('answers what would happen, and changes nothing'),
    })
    .refine((value) => value.dropUncaptured !== true || value.discard === true, {
      path: ['dropUncaptured'],
      error: 'only with discard: nothing else destroys work',
    });
export type EndSessionInput = z.output<ReturnType<typeof endSessionInput>>;

export const rehydrateInput = () =>
  z
    .strictObject({
      sessionId: id,
      messageId: id.optional(),
      checkpointId: checkpointId.optional().describe('without either: the head'),
      mode: z
        .enum(['review', 'resume'])
        .optional()
        .describe('a detached copy (default), or where the session goes on'),
      requestId: id.optional().describe('the same id finishes or answers the same rehydrate'),
      epoch: z
        .int()
        .min(1)
        .optional()
        .describe(
          'only with resume; the epoch of the last answer: when the session was moved since then, by another resume for example, the answer is StaleEpoch',
        ),
      template: template.optional(),
      timeoutMs: sandboxLife,
    })
    .refine((value) => value.messageId === undefined || value.checkpointId === undefined, {
      path: ['messageId'],
      error: 'give messageId or checkpointId, not both',
    })
    .refine((value) => value.epoch === undefined || value.mode === 'resume', {
      path: ['epoch'],
      error: 'only with mode resume: a review copy moves no session',
    });
export type RehydrateInput = z.output<ReturnType<typeof rehydrateInput>>;

export const timelineInput = () =>
  z.strictObject({
    sessionId: id,
    limit: limit.describe('checkpoints in one answer; default 50'),
    cursor: z.string().max(256).optional().describe('the cursor of the answer before'),
    brief: z
      .boolean()
      .optional()
      .describe(
        'leaves out repositories, failures and skipped paths, and counts only lines; cheap for long sessions',
      ),
  });
export type TimelineInput = z.output<ReturnType<typeof timelineInput>>;

export const sessionInput = () => z.strictObject({ sessionId: id });
export type SessionInput = z.output<ReturnType<typeof sessionInput>>;

export const progressInput = () =>
  z.strictObject({
    sessionId: id,
    requestId: id.optional().describe('of a search (walkback-bisect-session): also how far that is'),
  });
export type ProgressInput = z.output<ReturnType<typeof progressInput>>;

/**
 * A point of the timeline: a message, a checkpoint, `head`, or `now` (the present state of the sandbox,
 * captured for this call only).
 */
const POINT = 'a message id, a checkpoint id, head or now';
const point = z
  .union([z.literal(['head', 'now']), checkpointId, id], { error: `give ${POINT}` })
  .describe(POINT);

/** More would be a file to read, not a change. */
const MOST_CONTEXT = 2_000;

export const diffInput = () =>
  z
    .strictObject({
      sessionId: id,
      from: point,
      to: point,
      sandboxId: sandboxId.optional().describe('where to compare: a review copy'),
      path: oneRepository,
      stat: z.boolean().optional().describe('counts only, no text'),
      file: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .describe('beside path: only this file of the repository, whose counts the answer has'),
      context: z
        .int()
        .min(0)
        .max(MOST_CONTEXT)
        .optional()
        .describe('beside file: how many lines around each change (default 3)'),
      requestId: joinedRequestId,
    })
    .refine(({ file, path }) => file === undefined || path !== undefined, {
      path: ['file'],
      error: 'give it beside path',
    })
    .refine(({ context, file }) => context === undefined || file !== undefined, {
      path: ['context'],
      error: 'give it beside file',
    });
export type DiffInput = z.output<ReturnType<typeof diffInput>>;

export const changesInput = () =>
  z
    .strictObject({
      sessionId: id,
      checkpointId: checkpointId.optional().describe('what it changed since the checkpoint before it'),
      messageId: id.optional().describe('what each of its checkpoints changed; give this or checkpointId'),
      path: oneRepository,
      cursor: z.string().max(256).optional().describe('the cursor of the answer before'),
    })
    .refine((value) => (value.messageId === undefined) !== (value.checkpointId === undefined), {
      path: ['messageId'],
      error: 'give either messageId or checkpointId, and not both',
    });
export type ChangesInput = z.output<ReturnType<typeof changesInput>>;

export const listSessionsInput = () =>
  z.strictObject({
    limit,
    cursor: z.string().max(1024).optional().describe('the cursor of the answer before'),
  });
export type ListSessionsInput = z.output<ReturnType<typeof listSessionsInput>>;

export const listCopiesInput = () =>
  z.strictObject({
    sessionId: id.optional().describe('only copies of this session'),
  });
export type ListCopiesInput = z.output<ReturnType<typeof listCopiesInput>>;

export const deleteCopyInput = () =>
  z.strictObject({
    sandboxId,
    dryRun: z
      .boolean()
      .optional()
      .describe('answers what would be lost with the copy (work), and deletes nothing'),
  });
export type DeleteCopyInput = z.output<ReturnType<typeof deleteCopyInput>>;
