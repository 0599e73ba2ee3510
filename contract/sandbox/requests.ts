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

const id = z.string();

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

const preflight = z.strictObject({
  kind: z.literal('preflight'),
  below: name.describe(
    'the next part of a projects root that does not exist; empty where the call began in it',
  ),
  tools: z.array(z.string()).describe('programs that Walkback calls'),
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

const state = z.strictObject({ tree: id, meta: id });

const bundles = z
  .array(
    z.strictObject({
      how: z
        .enum(['base', 'link', 'small', 'many'])
        .describe('small: becomes loose objects; many: joined small ones, which become one pack'),
      sha256: z.string(),
      cuts: z.string().nullable().describe('SHA-256 of the places at which a joined one is cut'),
    }),
  )
  .describe('to be brought first; they are files of the call in the sandbox');

/** What restores and compositions say alike. */
export const restored = { state, bundles };

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
  company: z.boolean().describe('captured files may have another content by now, and change further'),
  settle: z
    .enum(['nearer', 'target', 'undo'])
    .nullable()
    .describe('a restore between undo and target broke off: what it left goes to one of them'),
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
  captureWorkingTree,
  capture,
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
