/** Runs JSONata expressions and nothing more, either in this process or in one of its own. */
import jsonata from 'jsonata';
import type { Json } from '../../../contract/json.ts';
import { wellFormed } from '../../shared/well-formed.ts';

/**
 * The limits that JSONata itself checks. It interrupts no regular expression and no built-in function, and
 * does not limit memory. Its time is by the clock.
 */
const LIMITS = { timeout: 1_000, stack: 200, sequence: 100_000 };

/** `text`: the value as JSON; its arrays carry hidden members. */
export type Evaluated = { text: string } | { problem: string };

/** One expression, and the steps that it names. */
export interface Expression {
  source: string;
  /** Only these of `steps` are visible. Absent: the scope has no steps, and is visible as it is. */
  steps?: readonly string[];
}

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

/** JSON has neither, and would have something else in their place without a word. */
const refuseNoJson = (_: string, value: unknown): unknown => {
  if (isFunction(value)) throw new TypeError('its value holds a function; call it');
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError('its value holds a number that is too large, or a division by zero');
  }
  return value;
};

/** JSON has an escape for a half character, which no ledger can keep: `$split` into single characters makes such. */
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
