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

/** A call that is cut short: with a longer deadline while it came too late to begin, however slow the machine is. */
export const cutShort = async <Answer extends { outcome: string; reached?: false | undefined }>(
  call: (deadlineMs: number) => Promise<Answer>,
): Promise<Answer> => {
  for (let ms = 200; ; ms *= 2) {
    const answer = await call(Date.now() + ms);
    if (answer.outcome !== 'rejected' || answer.reached !== false) return answer;
  }
};
