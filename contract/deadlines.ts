/** How long one call of a tool may take: as the tool declares it, and as a step says it for itself. */
import * as z from 'zod';

/** What a function has at the most. */
export const MAX_CALL_SECONDS = 900;

export const callSeconds = () => z.int().min(1).max(MAX_CALL_SECONDS);

/** Of a step: in the place of what its tool declares. Without it that counts. */
export const stepDeadlines = () => ({
  timeoutSeconds: callSeconds()
    .optional()
    .describe('deadline of a call of this step; default: what the tool declares'),
  compensation: z
    .strictObject({ timeoutSeconds: callSeconds() })
    .optional()
    .describe('the same of the compensator of this step'),
});
export type StepDeadlines = z.infer<z.ZodObject<ReturnType<typeof stepDeadlines>>>;
