/** Requests to the program in the sandbox (`sandbox/src/wire`). Names of the sandbox are text (`adapters/git/names.ts`). */
import * as z from 'zod';

const name = z.string();
const objectId = z.string().nullable();

const hello = z.strictObject({ kind: z.literal('hello') });

const survey = z.strictObject({
  kind: z.literal('survey'),
  maxDepth: z.int().min(0).describe('how deep below the projects root a repository may lie'),
  detail: z.boolean().describe('remote, newest commits and changed files as well'),
});

const directories = z.strictObject({
  kind: z.literal('directories'),
  paths: z.array(name),
  maxEntries: z.int().min(0),
});

const diff = z.strictObject({
  kind: z.literal('diff'),
  sessionId: z.string(),
  pairs: z.array(
    z.strictObject({
      path: name,
      from: objectId.describe('null: the repository was not there'),
      to: objectId,
      fromMeta: objectId.describe('host states; null: not compared'),
      toMeta: objectId,
    }),
  ),
  statOnly: z.boolean(),
  maxBytes: z.int().min(0).describe('of the text of one repository'),
});

const captureWorkingTree = z.strictObject({
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

const sandboxCommand = z.discriminatedUnion('kind', [hello, survey, directories, diff, captureWorkingTree]);
export type SandboxCommand = z.infer<typeof sandboxCommand>;

/** One call. It is JSON on the program's standard input. */
export const sandboxRequest = z.strictObject({
  mark: z.string().describe('stands around the answer, and nowhere else in the output'),
  timeoutMs: z.int().min(1).describe('the program ends itself and what it started after this time'),
  command: sandboxCommand,
});
