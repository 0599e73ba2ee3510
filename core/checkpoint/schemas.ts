/** What each function accepts. Everything is strict: an unknown field is refused, and the message names it (C10). */
import * as z from 'zod';
import { WalkbackError } from '../shared/errors.ts';
import { ID_PATTERN, RESERVED_ID_PREFIX } from '../shared/ids.ts';

export const GIB = 1024 ** 3;
export const MIB = 1024 ** 2;

export const DEFAULTS = {
  maxFileBytes: 256 * MIB,
  retentionDays: 30,
  maxDepth: 3,
  /** Bundles up to this size travel through the function. */
  maxInlineBytes: 8 * MIB,
  timelineLimit: 50,
  /** Life of a rehydrated sandbox unless the caller says otherwise. */
  sandboxTimeoutMs: 3_600_000,
} as const;

const id = z
  .string()
  .regex(
    ID_PATTERN,
    'must be 1 to 64 of the characters A-Z a-z 0-9 _ . : - and begin with a letter or a digit',
  );

const callersId = id.refine((value) => !value.startsWith(RESERVED_ID_PREFIX), {
  error: `ids that begin with "${RESERVED_ID_PREFIX}" are reserved`,
});

/** Printable text without line breaks: these become headers, tags and file names elsewhere. */
const line = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !/\p{Cc}/u.test(value), { error: 'must not contain control characters' });

const isPlainAbsolutePath = (value: string): boolean =>
  value.startsWith('/') &&
  !/\p{Cc}/u.test(value) &&
  value.split('/').every((part, index, parts) => {
    if (part === '.' || part === '..') return false;
    return part !== '' || index === 0 || index === parts.length - 1;
  });

const absolutePath = z
  .string()
  .max(1024)
  .refine(isPlainAbsolutePath, {
    error: 'must be an absolute path without "..", ".", empty parts or control characters',
  })
  .refine((value) => value !== '/', { error: 'must not be the root of the file system' })
  .transform((value) => value.replace(/\/$/, ''));

/** A gitignore-style pattern. */
const pattern = line(512);
const patterns = z.array(pattern).max(200);
const sandboxId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, 'must be a sandbox id: letters, digits, _ and -');
const template = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$/, 'must be the name or id of a sandbox template');
const metadata = z
  .record(z.string().regex(ID_PATTERN), z.string().max(1024))
  .refine((value) => Object.keys(value).length <= 50, { error: 'must have at most 50 entries' });

export const startSessionInput = z.strictObject({
  sessionId: id.optional(),
  sandboxId,
  projectsRoot: absolutePath,
  template: template.optional(),
  include: patterns.optional(),
  exclude: patterns.optional(),
  maxFileBytes: z
    .int()
    .min(1)
    .max(4 * GIB)
    .optional(),
  retentionDays: z.int().min(1).max(3650).optional(),
  metadata: metadata.optional(),
});
export type StartSessionInput = z.output<typeof startSessionInput>;

export const checkpointInput = z.strictObject({
  sessionId: id,
  epoch: z.int().min(1).optional(),
  messageId: id,
  toolExecutionId: callersId,
  reason: line(128),
});
export type CheckpointInput = z.output<typeof checkpointInput>;

const checkpointId = z.string().regex(/^cp-\d{8,12}-[0-9a-f]{8}$/, 'must be a checkpoint id, cp-...');

export const rollbackInput = z
  .strictObject({
    sessionId: id,
    messageId: id.optional(),
    checkpointId: checkpointId.optional(),
    requestId: id,
    sandboxId: sandboxId.optional(),
    dryRun: z.boolean().optional(),
    filesOnly: z.boolean().optional(),
    allowPartial: z.boolean().optional(),
  })
  .refine((value) => (value.messageId === undefined) !== (value.checkpointId === undefined), {
    path: ['messageId'],
    error: 'give either messageId or checkpointId, and not both',
  });
export type RollbackInput = z.output<typeof rollbackInput>;

export const rehydrateInput = z
  .strictObject({
    sessionId: id,
    messageId: id.optional(),
    checkpointId: checkpointId.optional(),
    mode: z.enum(['review', 'resume']).optional(),
    requestId: id.optional(),
    template: template.optional(),
    timeoutMs: z.int().min(10_000).max(86_400_000).optional(),
  })
  .refine((value) => value.messageId === undefined || value.checkpointId === undefined, {
    path: ['messageId'],
    error: 'give messageId or checkpointId, not both',
  });
export type RehydrateInput = z.output<typeof rehydrateInput>;

export const timelineInput = z.strictObject({
  sessionId: id,
  limit: z.int().min(1).max(200).optional(),
  cursor: z.string().max(256).optional(),
});
export type TimelineInput = z.output<typeof timelineInput>;

export const sessionInput = z.strictObject({ sessionId: id });
export type SessionInput = z.output<typeof sessionInput>;

/** A point of the timeline: a message, a checkpoint, `head`, or `now` (what the sandbox holds, captured for this call only). */
const point = z.union([z.literal(['head', 'now']), checkpointId, id]);

export const diffInput = z.strictObject({
  sessionId: id,
  from: point,
  to: point,
  sandboxId: sandboxId.optional(),
  /** One repository, relative to the projects root. */
  path: z.string().min(1).max(4096).optional(),
  stat: z.boolean().optional(),
});
export type DiffInput = z.output<typeof diffInput>;

export const listSessionsInput = z.strictObject({
  limit: z.int().min(1).max(200).optional(),
  cursor: z.string().max(1024).optional(),
});
export type ListSessionsInput = z.output<typeof listSessionsInput>;

const describeIssue = (issue: z.core.$ZodIssue): string => {
  const where = issue.path.join('.') || 'input';
  if (issue.code === 'unrecognized_keys') {
    return `${where}: unknown field ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
  }
  return `${where}: ${issue.message}`;
};

/** Parses a caller's input; `InvalidInput` names every field that is wrong, never its value. */
export const parseInput = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 10).map(describeIssue);
  throw new WalkbackError('InvalidInput', `The input is not valid. ${issues.join('; ')}.`, {
    details: { fields: parsed.error.issues.map((issue) => issue.path.join('.')) },
  });
};
