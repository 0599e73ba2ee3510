/** Templates that come with Walkback: their input is declared as that of a tool is. */
import * as z from 'zod';
import type { Plan, SagaDefinition } from '../../core/saga/model/plan.ts';
import { REVIEW_BY } from '../review-date.ts';

interface Declared {
  name: string;
  version: string;
  description: string;
  input: z.ZodType;
  plan: Plan;
}

export const defineTemplate = ({ input, ...declared }: Declared): SagaDefinition => {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', target: 'draft-2020-12' });
  return { ...declared, reviewBy: REVIEW_BY, input: schema };
};
