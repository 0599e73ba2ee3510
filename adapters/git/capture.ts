/** Runs a command whose answer is a capture, and brings its bundles out: inside the output, as files, or by a presigned upload. */
import { randomBytes } from 'node:crypto';
import pLimit from 'p-limit';
import type {
  CapturedBundle,
  CaptureHooks,
  CaptureReport,
  CaptureRequest,
  UploadTarget,
} from '../../core/checkpoint/ports/capture.ts';
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError, WalkbackError } from '../../core/shared/errors.ts';
import { runDirectory } from './call-folders.ts';
import {
  type AnnouncedBundle,
  type CaptureOutput,
  captureOutput,
  lateScript,
  lateStoredScript,
} from './capture-command.ts';
import { curlTransfers } from './curl.ts';
import { cutShort, findOutput, type Pair, readOutput, requireOutput, value } from './output.ts';
import { readChanges } from './read-changes.ts';
import { releasingAfterFailure } from './release.ts';
import { type RunnableScript, runScript } from './run-script.ts';

/** Uploads that are prepared at the same time. */
const PARALLEL = 16;

const newCall = (): string => randomBytes(9).toString('hex');

/** Cuts bytes into the bundles that they contain one after the other. */
const cutBundles = (bundles: readonly AnnouncedBundle[], bytes: Uint8Array): [string, Uint8Array][] => {
  let at = 0;
  return bundles.map(({ name, sizeBytes }) => {
    const start = at;
    at += sizeBytes;
    return [name, bytes.subarray(start, at)];
  });
};

const withoutPlace = ({ name: _name, carry: _carry, ...bundle }: AnnouncedBundle): CapturedBundle => bundle;

const bytesOf = (bundles: readonly AnnouncedBundle[]): number =>
  bundles.reduce((total, { sizeBytes }) => total + sizeBytes, 0);

/**
 * The sandbox announces how much there is to carry, but the memory is ours, so the amount is checked (C10).
 */
const requireCarriable = (carried: readonly AnnouncedBundle[], maxBytes: number): void => {
  // Written so that NaN is refused.
  if (carried.every(({ sizeBytes }) => sizeBytes >= 0) && bytesOf(carried) <= maxBytes) return;
  throw new WalkbackError(
    'BundleTooLarge',
    `The sandbox wants to hand over more than ${maxBytes} bytes at once. Stop what writes into .agent-shadow there, then call again.`,
    { details: { maxBytes } },
  );
};

export const readBundles = async (
  sandbox: ExecutionAdapter,
  directory: string,
  output: Pick<CaptureOutput, 'announced'>,
  rest: Uint8Array,
  maxBytes: number,
): Promise<CapturedBundle[]> => {
  const inline = output.announced.filter(({ carry }) => carry === 'inline');
  const filed = output.announced.filter(({ carry }) => carry === 'file');
  requireCarriable([...inline, ...filed], maxBytes);
  if (rest.length < bytesOf(inline)) throw cutShort();
  // One file for all of them needs one round trip, while the SDK reads only a few files at a time.
  const file =
    filed.length === 0 ? new Uint8Array() : await sandbox.readFile(`${directory}/bundles`, bytesOf(filed));
  const bytes = new Map([...cutBundles(inline, rest), ...cutBundles(filed, file)]);
  return output.announced.map((bundle) => ({ ...withoutPlace(bundle), bytes: bytes.get(bundle.name) }));
};

/**
 * Tells the waiting command where the large bundles go. The addresses are secret, so they travel only as the
 * content of a file.
 */
export const tellUploads = async (
  sandbox: ExecutionAdapter,
  directory: string,
  output: Pick<CaptureOutput, 'announced'>,
  upload: UploadTarget,
  { onProgress }: Pick<CaptureHooks, 'onProgress'>,
): Promise<void> => {
  const large = output.announced.filter((bundle) => bundle.carry === 'upload');
  const limit = pLimit(PARALLEL);
  const places = await Promise.all(
    large.map((bundle) => limit(async () => ({ bundle, place: await upload(withoutPlace(bundle)) }))),
  );
  const transfers = places.flatMap(({ bundle, place }) =>
    place === null
      ? []
      : [{ url: place.url, headers: place.headers, sizeBytes: bundle.sizeBytes, upload: bundle.name }],
  );
  const bytes = transfers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > 0) onProgress?.({ doing: 'upload', done: 0, of: bytes });
  await sandbox.writeFiles([{ path: `${directory}/uploads`, data: curlTransfers(transfers) }]);
};

/** Undefined for an error that the sandbox answered: it is read again, and thrown, when the command has ended. */
const announcedIn = (base64: string): CaptureOutput | undefined => {
  try {
    return captureOutput(readOutput(base64).pairs);
  } catch (error) {
    if (isWalkbackError(error)) return undefined;
    throw error;
  }
};

const requireUploaded = (base64: string | undefined): void => {
  const outcome = base64 === undefined ? 'no answer' : value(readOutput(base64).pairs, 'upload');
  if (outcome === 'ok') return;
  throw new WalkbackError(
    'StorageUnavailable',
    `A large bundle could not be uploaded from the sandbox (${outcome}). Check that the sandbox may reach the bucket, then call again.`,
    {
      retryable: true,
    },
  );
};

/** One round trip. */
export const lateStored: Repositories['lateStored'] = async (sandbox, request) => {
  const mark = `walkback-${newCall()}`;
  const script = lateStoredScript(request, newCall(), mark);
  const { projectsRoot, timeoutMs } = request;
  const { result } = await runScript(sandbox, script, { cwd: projectsRoot, timeoutMs });
  requireOutput(result, mark);
};

/** A command whose answer is a capture, before it runs. */
interface CaptureCall {
  request: Pick<CaptureRequest, 'projectsRoot' | 'sessionId' | 'timeoutMs' | 'maxInlineBytes' | 'changes'>;
  call: string;
  mark: string;
  script: RunnableScript;
}

/** The answer of such a command: its bundles, and the pairs it was read from. */
interface CaptureAnswered {
  pairs: readonly Pair[];
  report: CaptureReport;
}

export const newCaptureCall = (): { call: string; mark: string } => ({
  call: newCall(),
  mark: `walkback-${newCall()}`,
});

/**
 * Runs the command and brings its bundles out. One round trip when they fit into the output, otherwise two;
 * one more when files are brought in.
 */
export const createCaptureRun =
  (outputBytes: number) =>
  async (
    sandbox: ExecutionAdapter,
    { request, call, mark, script }: CaptureCall,
    upload: UploadTarget,
    hooks: CaptureHooks = {},
  ): Promise<CaptureAnswered> => {
    const directory = runDirectory(request, call);
    const lines: string[] = [];
    let marks = 0;
    let told: Promise<void> | undefined;
    const { result, roundTrips } = await runScript(sandbox, script, {
      cwd: request.projectsRoot,
      timeoutMs: request.timeoutMs,
      onLine: (line) => {
        lines.push(line);
        if (line.trimEnd() !== mark) return;
        marks += 1;
        if (marks !== 2) return;
        const base64 = findOutput(lines.join('\n'), mark);
        const output = base64 === undefined ? undefined : announcedIn(base64);
        if (output?.announced.some((bundle) => bundle.carry === 'upload')) {
          told = tellUploads(sandbox, directory, output, upload, hooks);
          // Reported below, after the command ended; it gives up waiting by itself.
          told.catch(() => undefined);
        }
      },
    });
    const place = { ...request, held: call };
    const first = await releasingAfterFailure(sandbox, place, () => requireOutput(result, mark));
    const output = captureOutput(first.pairs);
    const announced = request.changes === true ? output.changes : [];
    if (told !== undefined) {
      await releasingAfterFailure(sandbox, place, async () => {
        await told;
        requireUploaded(findOutput(result.stdout, mark, 1));
      });
    }
    const isFiled =
      output.announced.some((bundle) => bundle.carry === 'file') ||
      announced.some(({ file }) => file?.carry === 'file');
    const behind = bytesOf(output.announced.filter(({ carry }) => carry === 'inline'));
    const [bundles, changes] = await Promise.all([
      readBundles(sandbox, directory, output, first.rest, Math.max(request.maxInlineBytes, outputBytes)),
      readChanges(sandbox, directory, announced, first.rest.subarray(behind)),
      isFiled ? hooks.beside?.(output.report) : undefined,
    ]);
    return {
      pairs: first.pairs,
      report: {
        ...output.report,
        bundles,
        ...(request.changes === true && { changes }),
        ...(isFiled && { held: call }),
        roundTrips: roundTrips + Number(isFiled || told !== undefined),
      },
    };
  };

/**
 * Captures what other processes wrote during a restore, from the folders in which the scripts keep it.
 * Throws `SandboxUnavailable` (retryable), `SandboxUnsupported`, `StorageUnavailable`, or what the sandbox adapter throws.
 */
export const createLateCapture = (outputBytes: number): Repositories['capture'] => {
  const run = createCaptureRun(outputBytes);
  return async (sandbox, request, upload, hooks) => {
    const { call, mark } = newCaptureCall();
    const script = lateScript(request, call, mark, outputBytes);
    return (await run(sandbox, { request, call, mark, script }, upload, hooks)).report;
  };
};
