/** Object keys and chain ids. Both come from content, so a repeated step names the same thing. */
import { repositoryKey } from '../../shared/ids.ts';
import type { CapturedBundle } from '../ports/capture.ts';

/** Named by commit, not by base name: a large base needs its key before its name has been checked. */
export const bundleKey = (sessionId: string, bundle: CapturedBundle): string =>
  bundle.kind === 'base'
    ? `bases/${bundle.commit}/${bundle.sha256}.bundle`
    : `sessions/${sessionId}/${repositoryKey(bundle.repositoryPath)}/${bundle.sha256}.bundle`;

/** A chain is named by its first capture. */
export const chainIdOf = (path: string, firstCommit: string): string =>
  `${repositoryKey(path)}-${firstCommit.slice(0, 16)}`;
