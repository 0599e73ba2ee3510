/**
 * Checks what programs hand to the client. A program without types may leave a field out, or pass something
 * else for it. This is refused here, with the names of the call and the field, before anything is done or
 * sent. Fields that the client only passes on are checked by the functions.
 */
import { errors } from './errors.ts';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) ? Reflect.get(value, name) : undefined;

const hasFunctions = (value: unknown, ...names: readonly string[]): boolean =>
  names.every((name) => typeof memberOf(value, name) === 'function');

const isPoint = (value: unknown): boolean =>
  [value, memberOf(value, 'messageId'), memberOf(value, 'checkpointId')].some((id) => typeof id === 'string');

/** For each kind of value: its name for people, and a test for it. */
const KINDS = {
  any: ['anything', () => true],
  text: ['a text', (value) => typeof value === 'string'],
  directory: [
    'a directory of this machine; of a sandbox give sandboxId and projectsRoot instead',
    (value) => typeof value === 'string',
  ],
  number: ['a number', (value) => typeof value === 'number'],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  function: ['a function', (value) => typeof value === 'function'],
  object: ['an object', isObject],
  list: ['a list', Array.isArray],
  signal: ['an AbortSignal', (value) => value instanceof AbortSignal],
  mode: ['"block" or "warn"', (value) => value === 'block' || value === 'warn'],
  redaction: ['a function or false', (value) => typeof value === 'function' || value === false],
  point: ['a message id, a checkpoint id, { messageId } or { checkpointId }', isPoint],
  session: ['a session', (value) => hasFunctions(value, 'run', 'refresh')],
  run: ['a run', (value) => hasFunctions(value, 'before', 'guard')],
  saga: ['a saga', (value) => hasFunctions(value, 'submit')],
  tools: [
    'a list of tools made with defineTool',
    (value) => Array.isArray(value) && value.every((tool) => isObject(memberOf(tool, 'definition'))),
  ],
} as const satisfies Record<string, readonly [name: string, isOne: (value: unknown) => boolean]>;

type Kind = keyof typeof KINDS;

/** Keyed by the field, or by its path as in `message.id`. A key that ends in `?` may be left out. */
type Fields = Readonly<Record<string, Kind>>;

const seen = (value: unknown): string => {
  if (value === undefined) return 'is missing';
  if (value === null || typeof value === 'boolean') return `is ${String(value)}`;
  if (Array.isArray(value)) return 'is a list';
  return isObject(value) ? 'is another object' : `is a ${typeof value === 'string' ? 'text' : typeof value}`;
};

const refused = (call: string, field: string, value: unknown, kind: Kind): Error =>
  new errors.InvalidInput(`${call}: ${field} ${seen(value)}. It must be ${KINDS[kind][0]}.`);

/** `call` is the call as a program writes it, `given` its object. */
export const requireFields = (call: string, given: unknown, fields: Fields): void => {
  if (given !== undefined && !isObject(given)) throw refused(call, 'what it was given', given, 'object');
  for (const [name, kind] of Object.entries(fields)) {
    const path = name.replace(/\?$/, '');
    const value = path.split('.').reduce<unknown>(memberOf, given);
    const mayBeAbsent = path !== name && value === undefined;
    if (!mayBeAbsent && !KINDS[kind][1](value)) throw refused(call, path, value, kind);
  }
};

/**
 * For an object of which the client uses single fields. An unknown field is refused, because it would be
 * silently ignored.
 */
export const requireOnly = (call: string, given: unknown, fields: Fields): void => {
  requireFields(call, given, fields);
  const known = new Set(Object.keys(fields).map((name) => name.replace(/\?$/, '').split('.')[0]));
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined || known.has(name)) continue;
    const hint = name === 'signal' ? ' A signal goes in the last argument: { signal }.' : '';
    throw new errors.InvalidInput(`${call}: it takes no ${name}.${hint}`);
  }
};
