/** Templates that come with Walkback: their input is declared as that of a tool is. */
import * as z from 'zod';
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';

interface Declared {
  name: string;
  version: string;
  description: string;
  input: z.ZodType;
  plan: Plan;
}

/** All of them are looked at again before this day, or sooner when a tool of theirs changes. */
const REVIEW_BY = '2027-05-31';

export const defineTemplate = ({ input, ...declared }: Declared): SagaDefinition => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', target: 'draft-2020-12' });
  return { ...declared, reviewBy: REVIEW_BY, input: schema };
};
