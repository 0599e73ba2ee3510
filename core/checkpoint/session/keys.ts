/**
 * Object keys, chain ids and owners. Keys and chain ids come from content, so a repeated step gives the
 * same names.
 */
import { repositoryKey, sha256Hex } from '../../shared/ids.ts';
import type { Session } from '../model.ts';
import type { CapturedBundle } from '../ports/capture.ts';

/**
 * Who may build on a base without having its content. A base is found by the id of a commit, which is no
 * secret, so anyone who may look it up may also read its content.
 */
export const baseOwnerOf = ({ sessionId, tenant, baseOwner }: Owning): string =>
  baseOwner ?? (tenant === undefined ? `session/${sessionId}` : `tenant/${tenant}`);

type Owning = Pick<Session, 'sessionId' | 'tenant' | 'baseOwner'>;

/** Named by commit, not by base name: a large base needs its key before its name has been checked. */
export const bundleKey = (
  session: Owning,
  bundle: Pick<CapturedBundle, 'kind' | 'commit' | 'sha256' | 'repositoryPath'>,
): string =>
  bundle.kind === 'base'
    ? `bases/${baseOwnerOf(session)}/${bundle.commit}/${bundle.sha256}.bundle`
    : `sessions/${session.sessionId}/${repositoryKey(bundle.repositoryPath)}/${bundle.sha256}.bundle`;

/** The object with all links of a capture that came through the function. */
export const linksKey = ({ sessionId }: Pick<Session, 'sessionId'>, sha256: string): string =>
  `sessions/${sessionId}/links/${sha256}.bundles`;

/** SHA-256 of such an object, by its key. */
export const linksHashOf = (key: string): string | undefined => /\/([0-9a-f]{64})\.bundles$/.exec(key)?.[1];

/** The object with a checkpoint's content, which people read. */
export const contentKey = ({ sessionId }: Pick<Session, 'sessionId'>, sha256: string): string =>
  `sessions/${sessionId}/content/${sha256}.content`;

/** A fork's id comes from its request. The rehydrate that makes its sandbox has the same id. */
export const forkNameOf = (sessionId: string, requestId: string): string =>
  `fork-${sha256Hex(`${sessionId}\n${requestId}`).slice(0, 20)}`;

/** Whether a rehydrate of this request was made for a fork. */
export const isForkName = (requestId: string): boolean => /^fork-[0-9a-f]{20}$/.test(requestId);

/** Request id of the rehydrate whose copy commitments are verified in: a new one each time. */
export const verifyNameOf = (random: string): string => `verify-${sha256Hex(random).slice(0, 24)}`;

export const isVerifyName = (requestId: string): boolean => /^verify-[0-9a-f]{24}$/.test(requestId);

/** A chain is named by its first capture. */
export const chainIdOf = (path: string, firstCommit: string): string =>
  `${repositoryKey(path)}-${firstCommit.slice(0, 16)}`;
