/** What a zod schema takes or gives, as lines of a table: one for each field, nested ones with their path. */
import * as z from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

export interface Field {
  path: string;
  type: string;
  isRequired: boolean;
  description: string;
}

const NAMED_PATTERNS: Readonly<Record<string, string>> = {
  '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$': 'id',
};

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const variantsOf = (schema: JsonSchema): JsonSchema[] =>
  (schema.anyOf ?? schema.oneOf ?? []).filter(isObject);

const TYPES = ['object', 'array', 'string', 'number', 'boolean', 'integer'] as const;

/** Something or null, as `nullable()` is written: two types, or `anyOf`. */
const withoutNull = (schema: JsonSchema): { schema: JsonSchema; isNullable: boolean } => {
  const types: unknown = schema.type;
  if (Array.isArray(types)) {
    const [type] = TYPES.filter((one) => types.includes(one));
    return { schema: { ...schema, type }, isNullable: types.includes('null') };
  }
  const variants = variantsOf(schema);
  const rest = variants.filter(({ type }) => type !== 'null');
  const [only] = rest;
  return rest.length === 1 && variants.length === 2 && only !== undefined
    ? { schema: only, isNullable: true }
    : { schema, isNullable: false };
};

const isSize = (value: number | undefined): value is number =>
  value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

const rangeOf = ({ minimum, maximum, minLength, maxLength, maxItems }: JsonSchema): string => {
  const least = isSize(minimum) ? minimum : minLength;
  const most = isSize(maximum) ? maximum : (maxLength ?? maxItems);
  if (least !== undefined && most !== undefined) return ` of ${least} to ${most}`;
  if (most !== undefined) return ` of at most ${most}`;
  return least === undefined || least === 0 ? '' : ` of at least ${least}`;
};

const itemsOf = (schema: JsonSchema): JsonSchema | undefined =>
  isObject(schema.items) && !Array.isArray(schema.items) ? schema.items : undefined;

const typeOf = (given: JsonSchema): string => {
  const { schema, isNullable } = withoutNull(given);
  const orNull = isNullable ? ' or null' : '';
  if (schema.const !== undefined) return JSON.stringify(schema.const) + orNull;
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' or ') + orNull;
  if (schema.pattern !== undefined && NAMED_PATTERNS[schema.pattern] !== undefined) {
    return NAMED_PATTERNS[schema.pattern] + orNull;
  }
  if (schema.type === 'array') {
    const items = itemsOf(schema);
    const range = rangeOf(schema).replace(' of ', '');
    return `array of ${items === undefined ? 'anything' : typeOf(items)}${range === '' ? '' : ` (${range})`}${orNull}`;
  }
  if (schema.format === 'date') return `date${orNull}`;
  if (typeof schema.type === 'string') return schema.type + rangeOf(schema) + orNull;
  const variants = variantsOf(schema);
  return variants.length === 0 || schema.$ref !== undefined
    ? 'any JSON'
    : variants.map(typeOf).join(' or ') + orNull;
};

const fieldsBelow = (given: JsonSchema, prefix: string): Field[] => {
  const { schema } = withoutNull(given);
  const items = schema.type === 'array' ? itemsOf(schema) : undefined;
  if (items !== undefined) return fieldsBelow(items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (!isObject(property)) return [];
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const field = {
      path,
      type: typeOf(property),
      isRequired: schema.required?.includes(name) === true,
      description: property.description ?? '',
    };
    return [field, ...fieldsBelow(property, path)];
  });
};

/** `input`: as a caller writes it; `output`: as a caller reads it. */
export const fieldsOf = (schema: z.ZodType, io: 'input' | 'output'): Field[] =>
  fieldsBelow(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }), '');
