/** The rules of a saga whose steps are submitted one by one: of one that is started so, and of a step of a plan. */

import * as z from 'zod';
import { DAY_SECONDS } from './times.ts';

export const interactivePolicy = () =>
  z.strictObject({
    idleTimeoutSeconds: z
      .int()
      .min(60)
      .max(30 * DAY_SECONDS)
      .optional()
      .describe('how long it waits for a step; default 3600'),
    onIdle: z
      .enum(['unwind', 'ask'])
      .describe('when no step came in time: take everything back, or alert people and wait (AWAITING)'),
    approvalTimeoutSeconds: z
      .int()
      .min(60)
      .max(365 * DAY_SECONDS)
      .optional()
      .describe('how long people have to approve an irreversible step; default a day'),
    allowIrreversible: z
      .array(z.string().min(1).max(48))
      .max(20)
      .optional()
      .describe('irreversible tools that need no approval'),
  });
