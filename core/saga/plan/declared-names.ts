/** Checks whether the expressions that a tool declares can find what they name. Pure. */
import jsonata from 'jsonata';
import type { JsonSchema, ToolManifest } from '../model/tool.ts';

type Node = { readonly [name: string]: unknown };
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Members of a syntax node whose children see the same value as the node itself. A filter, a group or an
 * order sees another value.
 */
const BESIDE = ['arguments', 'body', 'condition', 'else', 'expression', 'expressions', 'lhs', 'rhs', 'then'];

const pathOf = (steps: readonly Node[]): string[] => {
  const end = steps.findIndex(({ type }) => type !== 'name');
  return steps.slice(0, end === -1 ? undefined : end).map(({ value }) => String(value));
};

const isWhole = ({ type, value }: Node): boolean => type === 'variable' && (value === '' || value === '$');

const pathsIn = (node: unknown): string[][] => {
  if (Array.isArray(node)) return node.flatMap(pathsIn);
  if (!isNode(node) || node['type'] === 'transform') return [];
  const { type, steps } = node;
  if (type !== 'path' || !Array.isArray(steps)) return BESIDE.flatMap((member) => pathsIn(node[member]));
  const parts = steps.filter(isNode);
  const [first, ...others] = parts;
  if (first === undefined) return [];
  if (first['type'] === 'name') return [pathOf(parts)];
  return isWhole(first) ? [pathOf(others)] : pathsIn(first);
};

/** Keywords of a schema that say more about its members than `properties` does. */
const ELSEWHERE = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'not',
  'patternProperties',
  'dependentSchemas',
];

/** A required name exists, whatever its value is. */
const required = ({ required: names }: Node): Node =>
  Array.isArray(names) ? Object.fromEntries(names.map((name) => [String(name), true])) : {};

/** The members by name, when the schema allows no others. */
const membersOf = (schema: unknown): Node | undefined => {
  if (!isNode(schema) || schema['type'] !== 'object' || schema['additionalProperties'] !== false)
    return undefined;
  const { properties = {} } = schema;
  return isNode(properties) && !ELSEWHERE.some((keyword) => keyword in schema)
    ? { ...required(schema), ...properties }
    : undefined;
};

const isThere = ([name, ...others]: readonly string[], schema: unknown): boolean => {
  const members = membersOf(schema);
  if (members === undefined || name === undefined) return true;
  return Object.hasOwn(members, name) && isThere(others, members[name]);
};

const closed = (properties: Node): JsonSchema => ({
  type: 'object',
  properties,
  additionalProperties: false,
});

/**
 * A tool must declare every argument that its expressions read, even when its schema allows further
 * arguments.
 */
const argumentsOf = (input: JsonSchema): JsonSchema =>
  isNode(input['properties']) && !isNode(input['unevaluatedProperties'])
    ? { additionalProperties: false, ...input }
    : input;

/** Expressions that name something that can never exist, one sentence each. */
export const nameViolations = ({
  schemas,
  resourceKey,
  externalUrl,
  amount,
  currency,
  compensation,
}: ToolManifest): string[] => {
  const given = argumentsOf(schemas.input);
  const moved = { arguments: given, result: schemas.output, externalRef: {} };
  const declared: [string, string | undefined, JsonSchema][] = [
    ['resourceKey', resourceKey, given],
    ['externalUrl', externalUrl, closed(moved)],
    ['amount', amount, closed(moved)],
    ['currency', currency, closed(moved)],
    ['compensation.amount', compensation?.amount, closed({ ...moved, undone: {} })],
    ['compensation.currency', compensation?.currency, closed({ ...moved, undone: {} })],
  ];
  return declared.flatMap(([member, source, scope]) => {
    if (source === undefined) return [];
    const missing = pathsIn(jsonata(source).ast()).find((path) => !isThere(path, scope));
    if (missing === undefined) return [];
    const known = Object.keys(membersOf(scope) ?? {}).join(', ');
    return [
      `${member}: ${source} names ${missing.join('.')}, which the schemas of the tool do not have; it sees ${known === '' ? 'nothing' : known}`,
    ];
  });
};
