import type { SandboxTags } from '../ports/sandbox.ts';

/** The tags that find the sandbox again when the answer of its creation was lost. */
export const rehydrateTags = (sessionId: string, requestId: string): SandboxTags => ({
  'walkback-session': sessionId,
  'walkback-request': requestId,
});
