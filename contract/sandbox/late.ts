/** Requests and reports of captures of what was written late (`sandbox/src/wire/late.rs`). */
import * as z from 'zod';
import { capture, captureReport } from './capture.ts';

const name = z.string();
const { sessionId, call, tag, message, reason, maxFileBytes, lockWaitSeconds, known, changes, limits } =
  capture.shape;

export const captureLate = z.strictObject({
  kind: z.literal('capture-late'),
  sessionId,
  call,
  tag,
  message,
  reason,
  maxFileBytes,
  lockWaitSeconds,
  known: known.describe('the states that the late files are added to'),
  changes,
  limits,
});

export const lateStored = z.strictObject({
  kind: z.literal('late-stored'),
  sessionId,
  tag: z.string().describe('of a capture of late files that is durable'),
  lockWaitSeconds,
});

const { repositories, bundles, records } = captureReport.shape;

export const captureLateReport = z.strictObject({
  repositories: z
    .array(
      repositories.element.omit({ info: true }).extend({
        late: z.array(name).describe('the late files, by the names that the capture has them under'),
      }),
    )
    .describe('in the order of the request'),
  bundles,
  records,
});

export const lateStoredReport = z.strictObject({});
