/**
 * JSONata in arguments: strings of the form `{% expression %}` over `input` and `steps.<id>.result`. An expression sees
 * exactly the steps it names, and nothing that changes between two evaluations, so the same saga always resolves to the
 * same arguments.
 */
import jsonata from 'jsonata';
import { WalkbackError } from '../errors.ts';
import { jsonValue } from './json-value.ts';
import type { Json, JsonObject } from './model.ts';

const DELIMITED = /^\{%([\s\S]*)%\}$/;
const NOT_REPEATABLE = new Set(['now', 'millis', 'random', 'eval']);

/** The expression inside `{% %}`, or undefined for plain text. */
const expressionIn = (value: Json): string | undefined =>
  typeof value === 'string' ? DELIMITED.exec(value)?.[1]?.trim() : undefined;

export interface FoundExpression {
  /** JSON pointer of the string inside the arguments. */
  pointer: string;
  source: string;
}

export const findExpressions = (value: Json, pointer = ''): FoundExpression[] => {
  const source = expressionIn(value);
  if (source !== undefined) return [{ pointer, source }];
  if (Array.isArray(value)) return value.flatMap((item, at) => findExpressions(item, `${pointer}/${at}`));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, member]) =>
      findExpressions(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    );
  }
  return [];
};

export interface ExpressionUse {
  /** Ids of the steps it names. */
  steps: string[];
  /** It names `steps` without saying which. */
  dynamic: boolean;
  /** Functions that answer differently each time. */
  forbidden: string[];
}

type Node = { [name: string]: unknown };
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

const usesOfPath = (path: Node[], use: ExpressionUse): void => {
  const [first, second] = path;
  const rooted = first?.['type'] === 'variable' && (first['value'] === '' || first['value'] === '$');
  const at = rooted ? 1 : 0;
  const named = rooted ? second : first;
  if (named?.['type'] !== 'name' || named['value'] !== 'steps') return;
  const step = path[at + 1];
  if (step?.['type'] === 'name' && typeof step['value'] === 'string' && named['stages'] === undefined) {
    use.steps.push(step['value']);
  } else {
    use.dynamic = true;
  }
};

const walk = (value: unknown, use: ExpressionUse): void => {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, use);
    return;
  }
  if (!isNode(value)) return;
  if (value['type'] === 'path' && Array.isArray(value['steps']))
    usesOfPath(value['steps'].filter(isNode), use);
  const name = value['type'] === 'variable' ? value['value'] : undefined;
  if (typeof name === 'string' && NOT_REPEATABLE.has(name)) use.forbidden.push(name);
  for (const member of Object.values(value)) walk(member, use);
};

/** What an expression depends on. Throws `InvalidInput` when it is not JSONata. */
export const readExpression = (source: string): ExpressionUse => {
  const use: ExpressionUse = { steps: [], dynamic: false, forbidden: [] };
  try {
    walk(jsonata(source).ast(), use);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WalkbackError('InvalidInput', `Not a JSONata expression: ${source} (${reason})`, { cause });
  }
  return { ...use, steps: [...new Set(use.steps)] };
};

export interface ExpressionScope {
  input: Json;
  steps: { [id: string]: { result: Json; externalRef: string | null } };
}

const LIMITS = { timeout: 1_000, stack: 200, sequence: 100_000 };

/** Plain JSON of a JSONata value: its arrays carry hidden members. */
const plain = (value: unknown): Json => jsonValue.parse(JSON.parse(JSON.stringify(value)));

/** Evaluates one expression. Throws `ArgumentsUnresolved` when it fails or has no value. */
export const evaluateExpression = async (source: string, scope: unknown): Promise<Json> => {
  let value: unknown;
  try {
    value = await jsonata(source, LIMITS).evaluate(scope);
  } catch (cause) {
    const reason = isNode(cause) && typeof cause['message'] === 'string' ? cause['message'] : String(cause);
    throw new WalkbackError('ArgumentsUnresolved', `${source} failed: ${reason}`, { cause });
  }
  if (value === undefined || typeof value === 'function') {
    throw new WalkbackError(
      'ArgumentsUnresolved',
      `${source} has no value; use a step's result or the input that has it`,
    );
  }
  return plain(value);
};

/** Replaces every expression by its value. */
const resolveJson = async (value: Json, scope: ExpressionScope): Promise<Json> => {
  const source = expressionIn(value);
  if (source !== undefined) return evaluateExpression(source, scope);
  if (Array.isArray(value)) return Promise.all(value.map((item) => resolveJson(item, scope)));
  if (typeof value === 'object' && value !== null) return resolveArguments(value, scope);
  return value;
};

export const resolveArguments = async (template: JsonObject, scope: ExpressionScope): Promise<JsonObject> => {
  const members = await Promise.all(
    Object.entries(template).map(async ([name, member]) => [name, await resolveJson(member, scope)] as const),
  );
  return Object.fromEntries(members);
};
