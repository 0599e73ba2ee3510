/**
 * JSONata in arguments: strings of the form `{% expression %}` over `input` and `steps.<id>.result`.
 *
 * An expression sees exactly the steps that it names, and nothing that changes between two evaluations. So
 * the same saga always resolves to the same arguments. Expressions may come from an agent, so those that
 * may run long or produce much are evaluated elsewhere (ports.ts).
 */
import jsonata from 'jsonata';
import { isJson, type Json, type JsonObject, jsonProblem } from '../../../contract/json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Evaluate, Expression } from '../ports.ts';
import { evaluateToText } from './evaluate.ts';

const DELIMITED = /^\{%([\s\S]*)%\}$/;
const NOT_REPEATABLE = new Set(['now', 'millis', 'random', 'shuffle', 'eval']);

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
  /** Reasons in the expression itself why it may not be used. */
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

const isToMillis = (value: unknown): boolean =>
  isNode(value) && value['type'] === 'variable' && value['value'] === 'toMillis';

/**
 * Whether it is a call of `$toMillis` with the time alone. The value before `~>` becomes the first argument
 * of the call after it.
 */
const takesTimeAlone = ({ type, procedure, arguments: given }: Node, isHandedOne: boolean): boolean =>
  type === 'function' &&
  isToMillis(procedure) &&
  Array.isArray(given) &&
  given.length + (isHandedOne ? 1 : 0) <= 1;

/** `isHandedOne`: the node comes after `~>`, so it gets a value as first argument. */
const walk = (value: unknown, use: ExpressionUse, isHandedOne = false): void => {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, use);
    return;
  }
  if (!isNode(value)) return;
  if (value['type'] === 'path' && Array.isArray(value['steps']))
    usesOfPath(value['steps'].filter(isNode), use);
  const name = value['type'] === 'variable' ? value['value'] : undefined;
  if (typeof name === 'string' && NOT_REPEATABLE.has(name)) {
    use.forbidden.push(`$${name} answers differently each time`);
  }
  // Under another name the function may also be called with a picture.
  if (isToMillis(value) && !isHandedOne) {
    use.forbidden.push('$toMillis with a picture takes what that leaves out from today');
  }
  if (value['value'] === '__proto__') use.forbidden.push('a member __proto__ does not survive being copied');
  const isPlain = takesTimeAlone(value, isHandedOne);
  for (const [part, member] of Object.entries(value)) {
    if (isPlain && part === 'procedure') continue;
    walk(member, use, value['type'] === 'apply' && part === 'rhs');
  }
};

/** JSONata throws no `Error`, but an object with a message and mostly a position. */
const reasonOf = (thrown: unknown): string => {
  if (!isNode(thrown) || typeof thrown['message'] !== 'string') return String(thrown);
  const { message, position } = thrown;
  return typeof position === 'number' ? `at character ${position}: ${message}` : message;
};

/** The dependencies of an expression. Throws `InvalidInput` when it is not JSONata. */
export const readExpression = (source: string): ExpressionUse => {
  const use: ExpressionUse = { steps: [], dynamic: false, forbidden: [] };
  try {
    walk(jsonata(source).ast(), use);
  } catch (cause) {
    const message = `Not a JSONata expression: ${source} (${reasonOf(cause)})`;
    throw new WalkbackError('InvalidInput', message, { cause });
  }
  return { ...use, steps: [...new Set(use.steps)] };
};

/**
 * Why a text cannot be used as an expression: it cannot be parsed, or (unless only parsing counts) it does
 * not give the same value each time.
 */
export const expressionProblem = (
  source: string,
  { mayDiffer = false }: { mayDiffer?: boolean } = {},
): string | undefined => {
  try {
    const { forbidden } = readExpression(source);
    return mayDiffer ? undefined : forbidden[0];
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Empty for a text that is not JSONata. Evaluating it then reports the error. */
const namedSteps = (source: string): string[] => {
  try {
    return readExpression(source).steps;
  } catch {
    return [];
  }
};

export interface ExpressionScope {
  input: Json;
  steps: { [id: string]: { result: Json; externalRef: string | null } };
}

/** Operators whose cost and result are about the size of their operands. */
const CHEAP = new Set(['+', '-', '*', '/', '%', '&', '=', '!=', '<', '<=', '>', '>=', 'and', 'or']);
const PARTS = ['steps', 'lhs', 'rhs', 'expressions', 'expression', 'condition', 'then', 'else'];
const CHEAP_MEMBERS = new Set(['type', 'value', 'position', ...PARTS]);
const MAX_CHEAP_NODES = 40;

const isCheapNode = ({ type, value }: Node): boolean => {
  switch (type) {
    case 'string':
    case 'number':
    case 'value':
    case 'name':
    case 'path':
    case 'block':
    case 'condition':
      return true;
    case 'variable':
      return value === '' || value === '$';
    case 'unary':
      return value === '-';
    case 'binary':
      return CHEAP.has(String(value));
    default:
      return false;
  }
};

/** Nodes of an expression of plain paths, literals, operators and conditions; Infinity for any other. */
const cheapNodes = (node: unknown): number => {
  if (Array.isArray(node)) return node.reduce<number>((sum, one) => sum + cheapNodes(one), 0);
  if (!isNode(node) || !isCheapNode(node)) return Infinity;
  if (Object.keys(node).some((member) => !CHEAP_MEMBERS.has(member))) return Infinity;
  return PARTS.reduce((sum, part) => sum + (part in node ? cheapNodes(node[part]) : 0), 1);
};

/** A short expression that can neither run long nor produce much needs no process of its own. */
const isCheap = (source: string): boolean => {
  try {
    return cheapNodes(jsonata(source).ast()) <= MAX_CHEAP_NODES;
  } catch {
    // It is not JSONata, and reporting that is cheap.
    return true;
  }
};

const evaluateHere = async (expression: Expression, scope: Json): Promise<Json> => {
  const evaluated = await evaluateToText(expression, scope);
  if ('problem' in evaluated) throw new WalkbackError('ArgumentsUnresolved', evaluated.problem);
  const value: unknown = JSON.parse(evaluated.text);
  if (isJson(value)) return value;
  const problem = jsonProblem(value) ?? 'is no JSON';
  throw new WalkbackError('ArgumentsUnresolved', `the value of ${expression.source} ${problem}`);
};

/** Values of expressions, by their source. Throws `ArgumentsUnresolved` when one fails, has no value or is too costly. */
const evaluateAll = async (
  expressions: readonly Expression[],
  scope: Json,
  evaluate: Evaluate,
): Promise<Map<string, Json>> => {
  const values = new Map<string, Json>();
  const costly: Expression[] = [];
  for (const expression of new Map(expressions.map((one) => [one.source, one])).values()) {
    if (isCheap(expression.source)) values.set(expression.source, await evaluateHere(expression, scope));
    else costly.push(expression);
  }
  const evaluated = costly.length === 0 ? [] : await evaluate(costly, scope);
  for (const [at, { source }] of costly.entries()) values.set(source, evaluated[at] ?? null);
  return values;
};

/** An expression over a value that has no steps. */
export const evaluateExpression = async (source: string, scope: Json, evaluate: Evaluate): Promise<Json> =>
  (await evaluateAll([{ source }], scope, evaluate)).get(source) ?? null;

const replaceExpressions = (value: Json, values: ReadonlyMap<string, Json>): Json => {
  const source = expressionIn(value);
  if (source !== undefined) return values.get(source) ?? null;
  if (Array.isArray(value)) return value.map((item) => replaceExpressions(item, values));
  return typeof value === 'object' && value !== null ? replaceMembers(value, values) : value;
};

const replaceMembers = (value: JsonObject, values: ReadonlyMap<string, Json>): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaceExpressions(member, values)]),
  );

/** Replaces every expression by its value. */
export const resolveArguments = async (
  template: JsonObject,
  { input, steps }: ExpressionScope,
  evaluate: Evaluate,
): Promise<JsonObject> => {
  const expressions = findExpressions(template).map(({ source }) => ({ source, steps: namedSteps(source) }));
  return replaceMembers(template, await evaluateAll(expressions, { input, steps }, evaluate));
};
