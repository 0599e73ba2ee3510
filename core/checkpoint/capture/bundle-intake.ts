/**
 * Takes the bundles of one capture into the store. It remembers, for that capture only, which bundle was
 * refused and why. Every step is idempotent because keys come from content.
 */
import pLimit from 'p-limit';
import { batched } from '../../shared/batched.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { LinkBundle, StoredBundle, StoredUpload } from '../bundles.ts';
import { placeParts } from '../content/content-object.ts';
import type { Index } from '../content/keep-content.ts';
import type { RepositoryState, Session } from '../model.ts';
import type { CapturedBundle, UploadTarget } from '../ports/capture.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { baseOwnerOf, bundleKey, chainIdOf, linksKey } from '../session/keys.ts';
import { isAlive, linksExpiryOf, uploadExpiryOf } from '../session/retention.ts';
import { checkBundle, type ExpectedBundle, HEADER_BYTES } from './bundle.ts';
import { bundleProblem } from './capture-claims.ts';

/** Long enough to send 5 GiB over a slow line, shorter than the longest invocation. */
const UPLOAD_SECONDS = 900;

/** Objects of their own that are looked at or stored at the same time. */
const PARALLEL = 8;

const corrupt = (message: string): WalkbackError => new WalkbackError('BundleCorrupt', message);

export interface BundleIntake {
  upload: UploadTarget;
  /**
   * Verifies one bundle and stores it durably. Throws `BundleCorrupt` when it is not the bundle that the
   * chain needs.
   */
  take(bundle: CapturedBundle, expected: ExpectedBundle): Promise<LinkBundle>;
}

export const createBundleIntake = (deps: {
  session: Session;
  /** The last known state of each repository, by path. */
  before: ReadonlyMap<string, RepositoryState>;
  store: SessionStore;
  bundles: BundleStore;
  index: Index;
  clock: Clock;
}): BundleIntake => {
  const { session, before, store, bundles, index, clock } = deps;
  const { sessionId } = session;

  const objects = pLimit(PARALLEL);

  const isStoredBase = async (bundle: CapturedBundle): Promise<boolean> => {
    if (bundle.kind !== 'base' || bundle.base === undefined) return false;
    const base = await store.getBase(bundle.base, baseOwnerOf(session));
    return base !== undefined && isAlive(base, clock);
  };

  /** The item that will name the bundle once it is stored. */
  const uploadTarget = ({
    kind,
    base,
    chain,
    repositoryPath,
    commit,
  }: CapturedBundle): StoredUpload['place'] => {
    if (kind === 'base') return { base: base ?? '', owner: baseOwnerOf(session) };
    const continued = chain === 'append' ? before.get(repositoryPath)?.chainId : undefined;
    return { sessionId, chainId: continued ?? chainIdOf(repositoryPath, commit) };
  };

  /**
   * Written before the object can exist, so that an object that no item ever names can be found and
   * deleted.
   */
  const indexOwn = (bundle: CapturedBundle, key: string): Promise<void> =>
    index({ key, place: uploadTarget(bundle), expiresAt: uploadExpiryOf(clock) });

  /** True if the bytes are stored already, and stay for as long as this capture needs to name them. */
  const isThere = async (bundle: CapturedBundle, key: string, known: StoredUpload | undefined) => {
    if (known === undefined || !isAlive(known, clock)) return false;
    const object = await bundles.head(key);
    return object?.sizeBytes === bundle.sizeBytes && object.sha256 === bundle.sha256;
  };

  const checkBytes = (
    { sizeBytes, sha256 }: CapturedBundle,
    bytes: Uint8Array,
    expected: ExpectedBundle,
  ): void => {
    if (bytes.length !== sizeBytes || sha256Hex(bytes) !== sha256) {
      throw corrupt('The bundle that arrived is not the one that was announced.');
    }
    checkBundle(bytes, expected, true);
  };

  /** All links that are taken in one turn become one object. Answers the object's key and their places in it. */
  const putLinks = batched(async (links: Uint8Array[]) => {
    const { object, places } = placeParts(links);
    const sha256 = sha256Hex(object);
    const key = linksKey(session, sha256);
    await index({ key, place: { linksOf: sessionId }, expiresAt: linksExpiryOf(session, clock) });
    await bundles.put(key, object, sha256);
    return { key, places: new Map(links.map((link, nth) => [link, places[nth]?.at])) };
  });

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
      await indexOwn(bundle, key);
      if (await isThere(bundle, key, known)) return null;
      return bundles.presignPut({ key, sizeBytes, sha256 }, UPLOAD_SECONDS);
    },

    take: async (bundle, expected) => {
      const problem = bundleProblem(bundle);
      if (problem !== undefined) throw corrupt(problem);
      const { sizeBytes, sha256, bytes, kind } = bundle;
      if (bytes !== undefined) checkBytes(bundle, bytes, expected);
      if (bytes !== undefined && kind === 'link') {
        const { key, places } = await putLinks(bytes);
        return { key, at: places.get(bytes), sizeBytes, sha256 };
      }
      const stored = { key: bundleKey(session, bundle), sizeBytes, sha256 };
      await objects(async () => {
        await indexOwn(bundle, stored.key);
        await (bytes === undefined
          ? checkUploaded(stored, expected)
          : bundles.put(stored.key, bytes, sha256));
      });
      return stored;
    },
  };
};
