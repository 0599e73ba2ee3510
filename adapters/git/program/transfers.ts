/** Brings bundles between a sandbox without curl and their addresses: through this process, a piece at a time. */
import pLimit from 'p-limit';
import type { ProgressHooks } from '../../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError, WalkbackError } from '../../../core/shared/errors.ts';
import type { Transfer } from '../curl.ts';

/** Transfers at the same time. */
const PARALLEL = 4;

export const tellTransfers = (
  doing: 'upload' | 'download',
  transfers: readonly Transfer[],
  { onProgress }: ProgressHooks,
): void => {
  const of = transfers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (of > 0) onProgress?.({ doing, done: 0, of });
};

type Ended = { status: number; body: ReadableStream<Uint8Array> | null };

const failed = (why: string, cause?: unknown): WalkbackError =>
  new WalkbackError('StorageUnavailable', `A large bundle could not be carried (${why}). Call again.`, {
    retryable: true,
    cause,
  });

/** Addresses are secret, and are in no message. */
const asked = async (answer: Promise<Response>): Promise<Ended> => {
  const { ok, status, body } = await answer.catch((error: unknown) => {
    throw isWalkbackError(error) ? error : failed('the bucket cannot be reached', error);
  });
  if (ok) return { status, body };
  await body?.cancel();
  throw failed(`the bucket answered ${status}`);
};

const each = async (transfers: readonly Transfer[], work: (transfer: Transfer) => Promise<void>) => {
  const limit = pLimit(PARALLEL);
  await Promise.all(transfers.map((transfer) => limit(() => work(transfer))));
};

/** `directory` is the one in the sandbox that the names of files are relative to. */
export const sendStreams = (sandbox: ExecutionAdapter, directory: string, transfers: readonly Transfer[]) =>
  each(transfers, async ({ url, headers, upload }) => {
    const body = await sandbox.readStream(`${directory}/${upload}`);
    const sent = await asked(fetch(url, { method: 'PUT', headers, body, duplex: 'half' }));
    await sent.body?.cancel();
  });

export const fetchStreams = (sandbox: ExecutionAdapter, directory: string, transfers: readonly Transfer[]) =>
  each(transfers, async ({ url, headers, output }) => {
    const { body } = await asked(fetch(url, { headers }));
    await sandbox.writeStream(`${directory}/${output}`, body ?? new ReadableStream());
  });
