/** Runs JSONata expressions and does nothing else, either in this process or in a process of its own. */
import jsonata from 'jsonata';
import type { Json } from '../../../contract/json.ts';
import { wellFormed } from '../../shared/well-formed.ts';
import type { Expression } from '../ports.ts';

/**
 * The limits that JSONata itself checks. It does not interrupt regular expressions or built-in functions, and
 * does not limit memory. Its time limit is wall-clock time.
 */
const LIMITS = { timeout: 1_000, stack: 200, sequence: 100_000 };

/** `text`: the value as JSON, because its arrays carry hidden members. */
export type Evaluated = { text: string } | { problem: string };

/**
 * The scope of an expression: the input, and the steps that it names. `$$`, a wildcard or a function passed
 * on can reach everything in scope, so other steps are left out.
 */
const visible = (scope: Json, { steps: names }: Expression): Json => {
  if (names === undefined || typeof scope !== 'object' || scope === null || Array.isArray(scope))
    return scope;
  const { steps, ...rest } = scope;
  if (names.length === 0 || typeof steps !== 'object' || steps === null || Array.isArray(steps)) return rest;
  return { ...rest, steps: Object.fromEntries(Object.entries(steps).filter(([id]) => names.includes(id))) };
};

const reasonOf = (cause: unknown): string =>
  typeof cause === 'object' && cause !== null && 'message' in cause ? String(cause.message) : String(cause);

const isFunction = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' &&
    value !== null &&
    ('_jsonata_lambda' in value || '_jsonata_function' in value));

/** JSON has neither of these values, and would silently write something else instead. */
const refuseNoJson = (_: string, value: unknown): unknown => {
  if (isFunction(value)) throw new TypeError('its value holds a function; call it');
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError('its value holds a number that is too large, or a division by zero');
  }
  return value;
};

/**
 * JSON has an escape for a half character, which no ledger can store. `$split` into single characters makes
 * such characters.
 */
const HALF = /\\ud[89a-f]/;

const withoutHalves = (text: string): string =>
  HALF.test(text) ? JSON.stringify(wellFormed(JSON.parse(text))) : text;

export const evaluateToText = async (
  expression: Expression,
  scope: Json,
  timeout = LIMITS.timeout,
): Promise<Evaluated> => {
  const { source } = expression;
  try {
    const value: unknown = await jsonata(source, { ...LIMITS, timeout }).evaluate(visible(scope, expression));
    const text = JSON.stringify(value, refuseNoJson);
    return text === undefined
      ? { problem: `${source} has no value; let it read what is there` }
      : { text: withoutHalves(text) };
  } catch (cause) {
    return { problem: `${source} failed: ${reasonOf(cause)}`.toWellFormed() };
  }
};
