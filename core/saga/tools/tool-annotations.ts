/**
 * Annotations that make the span of a call searchable: `annotation.direction = "compensation"` finds the
 * calls that took something back.
 */
import type { ToolRequest } from '../../../contract/tool-request.ts';

const DIRECTIONS = { execute: 'forward', probe: 'probe', compensate: 'compensation' } as const;

/** Ids and numbers only. Arguments are customers' data and stay out of traces. */
export const annotationsOf = (request: ToolRequest): Record<string, string | number> => ({
  direction: DIRECTIONS[request.operation],
  sagaId: request.sagaId,
  step: request.step,
  attempt: request.attempt,
  tool: request.tool,
});
