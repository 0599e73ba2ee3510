/** What a capture is asked for, where a test does not say otherwise. */
import type { CaptureReport, CaptureRequest } from '../../core/checkpoint/ports/capture.ts';

/** What the store has after this capture, to be built on. */
export const knownFrom = (repositories: CaptureReport['repositories'] = []): CaptureRequest['known'] =>
  repositories.flatMap((one) => (one.state === 'captured' ? [{ ...one, next: 'append' as const }] : []));

export const captureRequest = (
  projectsRoot: string,
  sessionId: string,
  more: Partial<CaptureRequest> = {},
): CaptureRequest => ({
  sessionId,
  projectsRoot,
  toolExecutionId: 'x',
  messageId: 'm',
  reason: 'manual',
  known: [],
  knownBases: [],
  include: [],
  exclude: [],
  maxFileBytes: 1 << 28,
  maxDepth: 8,
  timeoutMs: 60_000,
  maxInlineBytes: 8 << 20,
  ...more,
});
