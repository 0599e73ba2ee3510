import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from '../../../contract/json.ts';
import { hashJson } from '../../shared/canonical-json.ts';
import type { JsonSchema } from '../model/tool.ts';

let ajv: Ajv2020 | undefined;
/** Made when a schema is first checked, because making it takes longer than importing a small client. */
const compiler = () =>
  (ajv ??= new Ajv2020({ strict: false, allErrors: true, verbose: true, validateFormats: false }));
const compiled = new Map<string, ValidateFunction>();

const compile = (schema: JsonSchema): ValidateFunction => {
  const key = hashJson(schema);
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const { $id: _, ...anonymous } = schema;
  const validate = compiler().compile(anonymous);
  compiled.set(key, validate);
  return validate;
};

/** The reason why this is not a usable JSON Schema, or undefined. */
export const schemaProblem = (schema: JsonSchema): string | undefined => {
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const COMBINING = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'const',
  'enum',
  'contains',
  'uniqueItems',
]);

const touches = (path: string, keyword: string, pointer: string): boolean =>
  pointer === path ||
  path.startsWith(`${pointer}/`) ||
  (COMBINING.has(keyword) && (path === '' || pointer.startsWith(`${path}/`)));

/** A text that helps a person or a model beside the reason. */
const aside = ({ keyword, params, parentSchema }: ErrorObject): string => {
  if (keyword === 'additionalProperties') return ` (${String(params['additionalProperty'])})`;
  // A pattern alone does not tell most readers what is meant.
  const description: unknown = parentSchema?.['description'];
  return keyword === 'pattern' && typeof description === 'string' ? ` (${description})` : '';
};

/**
 * Each part of `value` that breaks `schema`, one sentence each. Problems that depend on a value not known
 * yet (`unknown`: JSON pointers) are left for later.
 */
export const schemaViolations = (
  schema: JsonSchema,
  value: Json,
  unknown: readonly string[] = [],
): string[] => {
  const validate = compile(schema);
  if (validate(value)) return [];
  return (validate.errors ?? [])
    .filter((error) => !unknown.some((pointer) => touches(error.instancePath, error.keyword, pointer)))
    .map((error) => {
      const { instancePath, message, keyword } = error;
      return `${instancePath === '' ? 'value' : instancePath} ${message ?? keyword}${aside(error)}`;
    });
};
