/**
 * Takes the bundles of one capture into the store. It remembers, for that capture only, which bundle was
 * refused and why. Every step is idempotent because keys come from content.
 */
import { batched } from '../../shared/batched.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { RepositoryState, Session, StoredBundle, StoredUpload } from '../model.ts';
import type { CapturedBundle, UploadTarget } from '../ports/capture.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { baseOwnerOf, bundleKey, chainIdOf } from '../session/keys.ts';
import { isAlive, uploadExpiryOf } from '../session/retention.ts';
import { checkBundle, type ExpectedBundle, HEADER_BYTES } from './bundle.ts';
import { bundleProblem } from './capture-claims.ts';

/** Long enough to send 5 GiB over a slow line, shorter than the longest invocation. */
const UPLOAD_SECONDS = 900;

const corrupt = (message: string): WalkbackError => new WalkbackError('BundleCorrupt', message);

export interface BundleIntake {
  upload: UploadTarget;
  /**
   * Verifies one bundle and stores it durably. Throws `BundleCorrupt` when it is not the bundle that the
   * chain needs.
   */
  take(bundle: CapturedBundle, expected: ExpectedBundle): Promise<StoredBundle>;
}

export const createBundleIntake = (deps: {
  session: Session;
  /** The last known state of each repository, by path. */
  before: ReadonlyMap<string, RepositoryState>;
  store: SessionStore;
  bundles: BundleStore;
  clock: Clock;
}): BundleIntake => {
  const { session, before, store, bundles, clock } = deps;
  const { sessionId } = session;

  const isStoredBase = async (bundle: CapturedBundle): Promise<boolean> => {
    if (bundle.kind !== 'base' || bundle.base === undefined) return false;
    const base = await store.getBase(bundle.base, baseOwnerOf(session));
    return base !== undefined && isAlive(base, clock);
  };

  /** The item that will name the bundle once it is stored. */
  const placeOf = ({ kind, base, chain, repositoryPath, commit }: CapturedBundle): StoredUpload['place'] => {
    if (kind === 'base') return { base: base ?? '', owner: baseOwnerOf(session) };
    const continued = chain === 'append' ? before.get(repositoryPath)?.chainId : undefined;
    return { sessionId, chainId: continued ?? chainIdOf(repositoryPath, commit) };
  };

  /**
   * Written before the object can exist, so that an object that no item ever names can be found and
   * deleted.
   */
  const putUpload = batched<StoredUpload>((uploads) => store.putUploads(uploads));
  const index = (bundle: CapturedBundle, key: string): Promise<void> =>
    putUpload({ key, place: placeOf(bundle), expiresAt: uploadExpiryOf(clock) });

  /** True if the bytes are stored already, and stay for as long as this capture needs to name them. */
  const isThere = async (bundle: CapturedBundle, key: string, known: StoredUpload | undefined) => {
    if (known === undefined || !isAlive(known, clock)) return false;
    const object = await bundles.head(key);
    return object?.sizeBytes === bundle.sizeBytes && object.sha256 === bundle.sha256;
  };

  const takeBytes = async (bundle: StoredBundle, bytes: Uint8Array, expected: ExpectedBundle) => {
    if (bytes.length !== bundle.sizeBytes || sha256Hex(bytes) !== bundle.sha256) {
      throw corrupt('The bundle that arrived is not the one that was announced.');
    }
    checkBundle(bytes, expected, true);
    await bundles.put(bundle.key, bytes, bundle.sha256);
  };

  const checkUploaded = async (bundle: StoredBundle, expected: ExpectedBundle) => {
    const object = await bundles.head(bundle.key);
    if (object?.sizeBytes !== bundle.sizeBytes || object.sha256 !== bundle.sha256) {
      throw corrupt('The uploaded bundle is not in the bucket as it was announced.');
    }
    checkBundle(await bundles.getStart(bundle.key, HEADER_BYTES), expected, false);
  };

  return {
    // Also answers null for a refused bundle. One bad bundle then fails only its own repository, in `take`.
    upload: async (bundle) => {
      if (bundleProblem(bundle) !== undefined || (await isStoredBase(bundle))) return null;
      const { sizeBytes, sha256 } = bundle;
      const key = bundleKey(session, bundle);
      const known = await store.getUpload(key);
      await index(bundle, key);
      if (await isThere(bundle, key, known)) return null;
      return bundles.presignPut({ key, sizeBytes, sha256 }, UPLOAD_SECONDS);
    },

    take: async (bundle, expected) => {
      const problem = bundleProblem(bundle);
      if (problem !== undefined) throw corrupt(problem);
      const { sizeBytes, sha256 } = bundle;
      const stored = { key: bundleKey(session, bundle), sizeBytes, sha256 };
      await index(bundle, stored.key);
      if (bundle.bytes === undefined) await checkUploaded(stored, expected);
      else await takeBytes(stored, bundle.bytes, expected);
      return stored;
    },
  };
};
