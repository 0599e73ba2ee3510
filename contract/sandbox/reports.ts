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

const captureWorkingTree = z.strictObject({
  repositories: z.array(
    z.strictObject({
      path: z.string(),
      objectFormat: z.enum(['sha1', 'sha256']),
      tree: objectId.optional().describe('absent: not captured, and the failure says why'),
      modes: objectId.optional().describe('the list of the sidecar; absent when it is empty'),
      empty: objectId.optional(),
      leftOut: objectId.optional(),
      failures: z.array(uncaptured),
      skipped: z.array(skipped),
    }),
  ),
  skipped: z.array(skipped),
});

/** What each command answers. */
export const SANDBOX_REPORTS = {
  hello,
  survey,
  directories,
  diff,
  'capture-working-tree': captureWorkingTree,
} as const satisfies Record<SandboxCommand['kind'], z.ZodType>;

/** An answer that is an error instead of a report. */
export const sandboxError = z.strictObject({ name: z.string(), message: z.string() });
