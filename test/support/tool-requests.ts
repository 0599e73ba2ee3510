import type { ToolRequest } from '../../contract/tool-request.ts';

/** The first call of a tool `act`, with five seconds to live. */
export const requestOf = (more: Partial<ToolRequest> = {}): ToolRequest => ({
  operation: 'execute',
  tool: 'act',
  version: '1',
  sagaId: 's',
  step: 'a',
  attempt: 1,
  idempotencyKey: 's:0',
  forwardKey: 's:0',
  deadlineMs: Date.now() + 5000,
  arguments: { n: 1 },
  ...more,
});
