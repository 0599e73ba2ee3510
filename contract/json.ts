import * as z from 'zod';

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/**
 * Deeper than people write, but not deep enough to crash a program that walks it or a service that reads
 * it.
 */
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
      // Nearly every way to copy an object silently drops this member.
      return value !== null && Object.hasOwn(value, '__proto__')
        ? 'has a member __proto__, which does not survive being copied; give it another name'
        : undefined;
    default:
      return `holds a value of type ${typeof value}, which JSON has not`;
  }
};

/**
 * The reason why we do not accept this JSON, or undefined. For all input from outside. It walks by levels,
 * because recursion would fail on deep nesting.
 */
export const jsonProblem = (value: unknown, mostLevels = MAX_JSON_DEPTH): string | undefined => {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostLevels) return `is nested deeper than ${mostLevels} levels`;
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

const error = ({ input }: { input?: unknown }): string =>
  input === undefined ? 'is missing' : (jsonProblem(input) ?? 'must be a JSON object');

export const isJson = (value: unknown): value is Json => jsonProblem(value) === undefined;

/** Any JSON value. Refuses other values, and JSON that we do not accept (`jsonProblem`). */
export const jsonValue: z.ZodType<Json> = z.custom<Json>(isJson, { error });

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && jsonProblem(value) === undefined;

export const jsonObject: z.ZodType<JsonObject, JsonObject> = z.custom<JsonObject>(isJsonObject, { error });
