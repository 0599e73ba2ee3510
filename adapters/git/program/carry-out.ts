/** Runs a command of the program whose answer is captures, and brings its bundles out: in the answer, as files, by a presigned upload, or piece by piece. */
import { randomBytes } from 'node:crypto';
import type * as z from 'zod';
import { uploadReport } from '../../../contract/sandbox/capture.ts';
import type {
  CaptureHooks,
  CaptureOutline,
  CaptureReport,
  CaptureRequest,
  UploadTarget,
} from '../../../core/checkpoint/ports/capture.ts';
import type {
  CommandOptions,
  CommandResult,
  ExecutionAdapter,
} from '../../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { runDirectory } from '../call-folders.ts';
import { readChanges } from '../read-changes.ts';
import { releasingAfterFailure } from '../release.ts';
import { cutShort, type Frame, findAnswer, readAnswer, requireAnswer } from './answer.ts';
import { readBundles, streamOut, tellUploads } from './bring-out.ts';
import { bundlesOf, type Carrying, changesOf } from './capture-report.ts';
import { listening } from './progress.ts';

/** The bytes in the answer: each frame is one bundle or one record. */
const bytesOf = (frames: readonly Frame[], kind: string): Uint8Array =>
  Buffer.concat(frames.filter((frame) => frame.kind === kind).map(({ bytes }) => bytes));

const requireUploaded = (problem: string | undefined): void => {
  if (problem === undefined) return;
  throw new WalkbackError(
    'StorageUnavailable',
    `A large bundle could not be uploaded from the sandbox (${problem}). Check that the sandbox may reach the bucket, then call again.`,
    { retryable: true },
  );
};

/** A command that has a folder of its own, before it runs. */
interface CarryingCall<Report extends Carrying> {
  sandbox: ExecutionAdapter;
  request: Pick<CaptureRequest, 'projectsRoot' | 'sessionId' | 'timeoutMs' | 'maxInlineBytes' | 'changes'>;
  call: string;
  mark: string;
  outputBytes: number;
  schema: z.ZodType<Report>;
  outlineOf: (report: Report) => CaptureOutline;
  start: (
    where: { projectsRoot: string; timeoutMs: number; mark: string } & Pick<
      CommandOptions,
      'onLine' | 'onErrorLine'
    >,
  ) => Promise<CommandResult>;
}

export const newCarryingCall = (): { call: string; mark: string } => ({
  call: randomBytes(9).toString('hex'),
  mark: `walkback-${randomBytes(9).toString('hex')}`,
});

/** One round trip when the bundles fit into the output, otherwise two. */
export const carryOut = async <Report extends Carrying>(
  { sandbox, request, call, mark, outputBytes, schema, outlineOf, start }: CarryingCall<Report>,
  upload: UploadTarget,
  hooks: CaptureHooks,
): Promise<{ report: Report; carried: CaptureReport }> => {
  const { projectsRoot, timeoutMs } = request;
  const directory = runDirectory(request, call);
  const lines: string[] = [];
  let marks = 0;
  let told: Promise<void> | undefined;
  const onLine = (line: string): void => {
    lines.push(line);
    if (line.trimEnd() !== mark) return;
    marks += 1;
    const base64 = marks === 2 ? findAnswer(lines.join('\n'), mark) : undefined;
    if (base64 === undefined) return;
    try {
      const { report } = readAnswer(schema, base64);
      const announced = bundlesOf(report);
      if (announced.some(({ carry }) => carry === 'upload'))
        told = tellUploads(sandbox, directory, announced, upload, hooks);
    } catch (error) {
      // It is read again, and thrown, when the command has ended.
      if (!(error instanceof WalkbackError)) throw error;
    }
    // Reported below, after the command ended; it gives up waiting by itself.
    told?.catch(() => undefined);
  };
  const result = await start({
    projectsRoot,
    timeoutMs,
    mark,
    onLine,
    ...listening(hooks),
  });
  const place = { ...request, held: call };
  const { report, frames } = await releasingAfterFailure(sandbox, place, async () => {
    const answer = requireAnswer(schema, result, mark);
    if (told !== undefined) {
      await told;
      requireUploaded(requireAnswer(uploadReport, result, mark, 1).report.problem);
    }
    return answer;
  });
  const announced = bundlesOf(report);
  if (announced.length !== report.bundles.length) throw cutShort();
  const changed = request.changes === true ? changesOf(report) : [];
  const isStreamed = announced.some(({ carry }) => carry === 'stream');
  const isFiled =
    isStreamed ||
    announced.some(({ carry }) => carry === 'file') ||
    changed.some(({ file }) => file?.carry === 'file');
  const outline = outlineOf(report);
  const maxBytes = Math.max(request.maxInlineBytes, outputBytes);
  const [bundles, changes] = await Promise.all([
    readBundles(sandbox, directory, announced, bytesOf(frames, 'bundle'), maxBytes),
    readChanges(sandbox, directory, changed, bytesOf(frames, 'record')),
    isFiled ? hooks.meanwhile?.(outline) : undefined,
    isStreamed ? streamOut(sandbox, directory, announced, upload, hooks) : undefined,
  ]);
  const carried = {
    ...outline,
    bundles,
    ...(request.changes === true && { changes }),
    ...(isFiled && { held: call }),
    roundTrips: 1 + Number(isFiled || told !== undefined),
  };
  return { report, carried };
};
