/** Checks the sandbox's claims about a capture before anything is built on them (C10). Pure. */
import { GIB } from '../../../contract/sizes.ts';
import { BASE_NAME_PATTERN, isRepositoryPath, OBJECT_ID_PATTERN } from '../../shared/ids.ts';
import type { CapturedBundle, ClaimedCapture, KnownRepository } from '../ports/capture.ts';
import { prerequisitesOf } from './chain.ts';

/** The largest body of a single S3 PUT. */
const MAX_BUNDLE_BYTES = 5 * GIB;

const isObjectId = (text: string | undefined): text is string =>
  text !== undefined && OBJECT_ID_PATTERN.test(text);

const baseProblem = (repository: ClaimedCapture): string | undefined => {
  const { base, baseCommit } = repository;
  if (base === undefined) {
    return baseCommit === undefined ? undefined : 'its capture names a base commit without a base';
  }
  const match = BASE_NAME_PATTERN.exec(base);
  if (match === null || !isObjectId(baseCommit) || match[2] !== baseCommit) {
    return 'its base is not named after its commit';
  }
  return (match[1] === 'sha1') === (baseCommit.length === 40)
    ? undefined
    : 'its base has another object format';
};

/** The reason why a captured repository cannot be trusted, or undefined when its claims are consistent. */
export const claimProblem = (
  repository: ClaimedCapture,
  known: KnownRepository | undefined,
): string | undefined => {
  const { commit, tree, meta } = repository;
  if (!isObjectId(commit) || !isObjectId(tree) || !isObjectId(meta))
    return 'its capture names no valid commit';
  if (repository.changed) {
    if (repository.chain === 'append')
      return known === undefined ? 'its capture continues nothing' : undefined;
    return baseProblem(repository);
  }
  const isSame = known?.commit === commit && known.tree === tree && known.meta === meta;
  return isSame ? undefined : 'its capture is called unchanged but is another one';
};

/** The reason why a bundle cannot be stored, or undefined when its size, hash and name are acceptable. */
export const bundleProblem = (bundle: CapturedBundle): string | undefined => {
  if (!isRepositoryPath(bundle.repositoryPath)) return 'its bundle has no valid path';
  if (!isObjectId(bundle.commit)) return 'its bundle names no valid commit';
  if (!/^[0-9a-f]{64}$/.test(bundle.sha256)) return 'its bundle has no valid hash';
  if (!Number.isSafeInteger(bundle.sizeBytes) || bundle.sizeBytes <= 0) return 'its bundle has no valid size';
  if (bundle.sizeBytes > MAX_BUNDLE_BYTES) {
    return `its bundle has ${bundle.sizeBytes} bytes, more than one object can hold (${MAX_BUNDLE_BYTES})`;
  }
  if (bundle.base !== undefined && !BASE_NAME_PATTERN.test(bundle.base)) return 'its base has no valid name';
  return undefined;
};

/** The prerequisites that the bundle of a claimed capture must have. */
export const linkPrerequisites = (repository: ClaimedCapture, known: KnownRepository | undefined): string[] =>
  prerequisitesOf(repository.chain ?? 'rebase', known, repository.baseCommit);
