/** Request and report of a composition (`sandbox/src/wire/compose.rs`). */
import * as z from 'zod';
import { capture, captureReport } from './capture.ts';
import { bundles, state } from './states.ts';

const name = z.string();

export const compose = z.strictObject({
  kind: z.literal('compose'),
  sessionId: z.string(),
  call: z.string().describe('names this call; its folder in the sandbox has this name'),
  tag: z.string().describe('names the checkpoint that is composed'),
  message: z.string(),
  reason: z.string(),
  lockWaitSeconds: z.int().min(0),
  include: z.array(name),
  knownBases: z.array(z.string()).describe('names of bases that are stored'),
  nowTag: z.string().describe('names the checkpoint of now'),
  gone: z
    .array(z.strictObject({ path: name, tag: z.string().nullable() }))
    .describe('that now has and the result does not have; tag: the capture that knows their directories'),
  repositories: z.array(
    z.strictObject({
      known: capture.shape.known.element.describe('what the store has, and the state to begin with'),
      isNew: z.boolean().describe('it is not in the sandbox: known is the state of the other side'),
      isEntered: z.boolean().describe('the capture of now took the directory in its place for a repository'),
      objectFormat: z.enum(['sha1', 'sha256']),
      isPartial: z.boolean(),
      inside: z
        .array(z.strictObject({ path: name, side: z.enum(['now', 'change']) }))
        .describe('repositories inside it that only one side has'),
      steps: z.array(z.strictObject({ base: state, theirs: state })),
      paths: z.array(name).describe('only these; without any, all of it'),
      bundles,
    }),
  ),
  refusesMarkers: z.boolean().describe('files that get marks of conflicts are conflicts'),
  markers: z.boolean().describe('conflicts are written into the files'),
  labels: z.strictObject({ ours: z.string(), theirs: z.string() }),
  isExported: z.boolean().describe('bundles are made'),
  limits: capture.shape.limits,
});

const { repositories, bundles: announced, records } = captureReport.shape;

export const composeReport = z.strictObject({
  repositories: z
    .array(
      repositories.element
        .pick({ path: true, state: true, capture: true, changes: true, failures: true })
        .extend({
          conflicts: z.array(z.strictObject({ path: name, kind: z.string(), message: z.string() })),
          unknownPaths: z.array(name).describe('that no state has'),
          isMissing: z.boolean().describe('the sandbox lacks objects'),
          isUnsupported: z.boolean().describe('the git of the sandbox is too old'),
          isHostKept: z.boolean().describe('HEAD, branches and index changed on both sides'),
          isHostTaken: z.boolean().describe('they come from the other side'),
          warnings: z
            .array(z.string())
            .describe('files that stay although the other side does not have them'),
        }),
    )
    .describe('in the order of the request'),
  bundles: announced,
  records,
});
