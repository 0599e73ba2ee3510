import type { SandboxTags } from '../ports/sandbox.ts';

/** The tags by which a sandbox of a lost answer is found again. */
export const rehydrateTags = (sessionId: string, requestId: string): SandboxTags => ({
  'walkback-session': sessionId,
  'walkback-request': requestId,
});
