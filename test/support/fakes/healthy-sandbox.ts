/** What a sandbox that lacks nothing says when it is looked at. */
import type { SandboxFacts, Workspaces } from '../../../core/checkpoint/ports/workspace.ts';

export const HEALTHY: SandboxFacts = {
  git: 'git version 2.45.0',
  user: 'user',
  hasCurl: true,
  needs: [],
  root: 'directory',
  canMakeIn: null,
  isWritable: true,
  hasTemporary: true,
  freeBytes: 1e12,
  freeInodes: 1e9,
  unreadable: [],
};

export const healthySandbox: Pick<Workspaces, 'look' | 'askRemotes'> = {
  look: async () => HEALTHY,
  askRemotes: async () => [],
};
