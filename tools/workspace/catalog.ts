/** The built-in tools of workspaces. */
import type { Tool } from '../../kit/define-tool.ts';
import { applyChangeset } from './apply-changeset.ts';
import { beginWork, checkpointWorkspace, prepareChangeset } from './checkpoints.ts';
import { dismissWorkspace } from './dismiss-workspace.ts';
import { openWorkspace } from './open-workspace.ts';
import { preflight, verifyCommitments } from './reads.ts';
import { runInWorkspace } from './run-in-workspace.ts';
import type { Uses } from './uses.ts';

export const workspaceTools = (uses: Uses): readonly Tool[] => [
  preflight(uses),
  openWorkspace(uses),
  checkpointWorkspace(uses),
  beginWork(uses),
  runInWorkspace(uses),
  verifyCommitments(uses),
  prepareChangeset(uses),
  applyChangeset(uses),
  dismissWorkspace(uses),
];
