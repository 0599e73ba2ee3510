import * as z from 'zod';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** Deeper than people write, and far from what ends a program that walks it, or a service that reads it. */
export const MAX_JSON_DEPTH = 100;

const membersOf = (value: object): unknown[] => (Array.isArray(value) ? value : Object.values(value));

const problemOf = (value: unknown): string | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : 'holds a number that JSON has not';
    case 'object':
      // Nearly everything that copies an object drops it without a word.
      return value !== null && Object.hasOwn(value, '__proto__')
        ? 'has a member __proto__, which does not survive being copied; give it another name'
        : undefined;
    default:
      return `holds a value of type ${typeof value}, which JSON has not`;
  }
};

/**
 * Why this is no JSON that we take, or undefined: for everything that comes from outside. By levels and not by recursion, or what
 * is nested deep would end the look at it.
 */
export const jsonProblem = (value: unknown): string | undefined => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return `is nested deeper than ${MAX_JSON_DEPTH} levels`;
    const next: unknown[] = [];
    for (const one of level) {
      const problem = problemOf(one);
      if (problem !== undefined) return problem;
      if (typeof one === 'object' && one !== null) for (const member of membersOf(one)) next.push(member);
    }
    level = next;
  }
  return undefined;
};

const error = (issue: { input?: unknown }): string => jsonProblem(issue.input) ?? 'must be a JSON object';

export const isJson = (value: unknown): value is Json => jsonProblem(value) === undefined;

/** Any JSON value; what is not one, or not one we take (`jsonProblem`), is refused. */
export const jsonValue: z.ZodType<Json> = z.custom<Json>(isJson, { error });

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && jsonProblem(value) === undefined;

export const jsonObject: z.ZodType<JsonObject> = z.custom<JsonObject>(isJsonObject, { error });
