/** Brings bundles out of a sandbox: as they were in the answer, from a file, by a presigned upload, or piece by piece. */
import pLimit from 'p-limit';
import type { CapturedBundle, ProgressHooks, UploadTarget } from '../../../core/checkpoint/ports/capture.ts';
import type { ExecutionAdapter } from '../../../core/checkpoint/ports/sandbox.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import type { AnnouncedBundle } from '../announced.ts';
import { curlTransfers, type Transfer } from '../curl.ts';
import { cutShort } from './answer.ts';
import { sendStreams, tellTransfers } from './transfers.ts';

/** Uploads that are prepared at the same time. */
const PARALLEL = 16;

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
  announced: readonly AnnouncedBundle[],
  rest: Uint8Array,
  maxBytes: number,
): Promise<CapturedBundle[]> => {
  const inline = announced.filter(({ carry }) => carry === 'inline');
  const filed = announced.filter(({ carry }) => carry === 'file');
  requireCarriable([...inline, ...filed], maxBytes);
  if (rest.length < bytesOf(inline)) throw cutShort();
  // One file for all of them needs one round trip, while the SDK reads only a few files at a time.
  const file =
    filed.length === 0 ? new Uint8Array() : await sandbox.readFile(`${directory}/bundles`, bytesOf(filed));
  const bytes = new Map([...cutBundles(inline, rest), ...cutBundles(filed, file)]);
  return announced.map((bundle) => ({ ...withoutPlace(bundle), bytes: bytes.get(bundle.name) }));
};

/** Where these bundles go. One that is stored by now goes nowhere. */
const placesOf = async (large: readonly AnnouncedBundle[], upload: UploadTarget): Promise<Transfer[]> => {
  const limit = pLimit(PARALLEL);
  const places = await Promise.all(
    large.map((bundle) => limit(async () => ({ bundle, place: await upload(withoutPlace(bundle)) }))),
  );
  return places.flatMap(({ bundle, place }) =>
    place === null
      ? []
      : [{ url: place.url, headers: place.headers, sizeBytes: bundle.sizeBytes, upload: bundle.name }],
  );
};

/** Of a sandbox without curl: carries the large bundles to where they go. */
export const streamOut = async (
  sandbox: ExecutionAdapter,
  directory: string,
  announced: readonly AnnouncedBundle[],
  upload: UploadTarget,
  hooks: ProgressHooks,
): Promise<void> => {
  const transfers = await placesOf(
    announced.filter(({ carry }) => carry === 'stream'),
    upload,
  );
  tellTransfers('upload', transfers, hooks);
  await sendStreams(sandbox, directory, transfers);
};

/**
 * Tells the waiting command where the large bundles go. The addresses are secret, so they travel only as the
 * content of a file.
 */
export const tellUploads = async (
  sandbox: ExecutionAdapter,
  directory: string,
  announced: readonly AnnouncedBundle[],
  upload: UploadTarget,
  hooks: ProgressHooks,
): Promise<void> => {
  const transfers = await placesOf(
    announced.filter(({ carry }) => carry === 'upload'),
    upload,
  );
  tellTransfers('upload', transfers, hooks);
  await sandbox.writeFiles([{ path: `${directory}/uploads`, data: curlTransfers(transfers) }]);
};
