import type * as z from 'zod';
import { WalkbackError } from './errors.ts';
import { wellFormed } from './well-formed.ts';

const describeIssue = (issue: z.core.$ZodIssue): string => {
  const where = issue.path.join('.') || 'input';
  if (issue.code === 'unrecognized_keys') {
    return `${where}: unknown field ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
  }
  return `${where}: ${issue.message}`;
};

/** Parses a caller's input, with U+FFFD for half characters; `InvalidInput` names every field that is wrong, never its value. */
export const parseInput = <T>(schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(wellFormed(input));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 10).map(describeIssue);
  throw new WalkbackError('InvalidInput', `The input is not valid. ${issues.join('; ')}.`, {
    details: { fields: parsed.error.issues.map((issue) => issue.path.join('.')) },
  });
};
