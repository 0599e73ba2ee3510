/** Requests to the program in the sandbox (`sandbox/src/wire`). Names of the sandbox are text (`adapters/git/names.ts`). */
import * as z from 'zod';
import { capture, captureWorkingTree } from './capture.ts';
import { compose } from './compose.ts';
import { captureLate, lateStored } from './late.ts';
import { bundles, id, state } from './states.ts';

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
  file: z
    .strictObject({
      path: name.describe('in the repository'),
      context: z.int().min(0).describe('lines that are shown around each change'),
    })
    .nullable()
    .describe('the text is of this file alone'),
  maxBytes: z.int().min(0).describe('of the text of one repository'),
});

const blame = z.strictObject({
  kind: z.literal('blame'),
  sessionId: z.string(),
  call: z.string().describe('names this call; what was brought for it lies in a folder of this name'),
  path: name.describe('of the repository'),
  objectFormat: z.enum(['sha1', 'sha256']),
  file: name.describe('in the repository'),
  nodes: z
    .array(
      z.strictObject({
        tree: objectId.describe('null: the repository was not there'),
        parents: z.array(z.int().min(0)).describe('places of the states that it came from'),
        commit: objectId.describe(
          "of the repository's own history; becomes the parent of a state without one, where it can be read",
        ),
      }),
    )
    .describe('each comes after its parents; the last one is that of the file'),
  bases: z.array(id).describe('commits that bundles stand on'),
  shallow: z.boolean().describe('without its boundary, own commits are not looked at'),
  from: z.int().min(1),
  to: z.int().min(1).nullable().describe('null: to the end'),
  mostLines: z.int().min(1),
  maxFileBytes: z.int().min(0),
  bundles: z
    .array(z.string())
    .describe('SHA-256 of those to bring first, for this call alone; they are files of the call'),
});

const findFile = z.strictObject({
  kind: z.literal('find-file'),
  sessionId: z.string(),
  file: name,
  trees: z.array(z.strictObject({ path: name.describe('of the repository'), tree: id })),
});

const countLooseFiles = z.strictObject({
  kind: z.literal('count-loose-files'),
  include: z.array(name).describe('patterns of ignored files that count'),
  exclude: z.array(name).describe('patterns of files that do not count'),
  mostFiles: z.int().min(0).describe('sizes of more files are not looked at'),
  maxFileBytes: z.int().min(0).describe('a larger file is not captured'),
});

const preflight = z.strictObject({
  kind: z.literal('preflight'),
  below: name.describe(
    'the next part of a projects root that does not exist; empty where the call began in it',
  ),
  needs: z.array(z.string()).describe('programs that the caller needs'),
});

const askRemotes = z.strictObject({ kind: z.literal('ask-remotes'), paths: z.array(name) });

const run = z.strictObject({
  kind: z.literal('run'),
  command: z.string().describe('text for a shell'),
  directory: name,
  seconds: z.int().min(1),
  headBytes: z.int().min(0).describe('of its output that are answered'),
  tailBytes: z.int().min(0),
  keptBytes: z.int().min(0).describe('of its output that are kept while it runs'),
});

const leftovers = z.strictObject({
  kind: z.literal('leftovers'),
  maxDepth: z.int().min(0),
  ended: z.array(z.string()).describe('sessions that are over'),
  remove: z.boolean(),
  oldSeconds: z.int().min(0).describe('after which a call is over'),
  lockWaitSeconds: z.int().min(0),
});

const restore = z.strictObject({
  kind: z.literal('restore'),
  sessionId: z.string(),
  call: z.string().describe('names this call; what it puts aside lies in a folder of this name'),
  maxFileBytes: z.int().min(0),
  maxDepth: z.int().min(0),
  lockWaitSeconds: z.int().min(0),
  include: z.array(name),
  exclude: z.array(name),
  filesOnly: z.boolean().describe('HEAD, branches, index and operation stay as they are'),
  dryRun: z.boolean(),
  allowConcurrentWriters: z
    .boolean()
    .describe('captured files may have another content by now, and change further'),
  settle: z
    .boolean()
    .describe('a restore from undo to target broke off: what it wrote goes back to the undo'),
  fresh: z
    .boolean()
    .describe('the sandbox was made for this: what its template holds in the way is put aside'),
  targetTag: z.string().nullable().describe('names the checkpoint of the target'),
  repositories: z
    .array(
      z.strictObject({
        path: name,
        target: state.nullable().describe('null: the target does not have it'),
        now: state.nullable().describe('that it must be in; null: it is not there'),
        undo: state.nullable().describe('to put back if anything fails; null: it was not there'),
        skipped: z.array(name).describe('files that the target left out for their size'),
        stash: z.array(id).describe('entries of the stash that were there'),
        isPartial: z.boolean().describe('its history is not whole, and may stay so'),
        bundles,
      }),
    )
    .describe('each is there now, or at the target, or both'),
});

const sandboxCommand = z.discriminatedUnion('kind', [
  hello,
  survey,
  directories,
  diff,
  blame,
  findFile,
  countLooseFiles,
  captureWorkingTree,
  capture,
  captureLate,
  lateStored,
  compose,
  preflight,
  askRemotes,
  run,
  leftovers,
  restore,
]);
export type SandboxCommand = z.infer<typeof sandboxCommand>;

/** One call. It is JSON on the program's standard input. */
export const sandboxRequest = z.strictObject({
  mark: z.string().describe('stands around the answer, and nowhere else in the output'),
  timeoutMs: z.int().min(1).describe('the program ends itself and what it started after this time'),
  command: sandboxCommand,
});
