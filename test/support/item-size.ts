/** The size of an item as DynamoDB counts it. A write takes one unit for each KiB that is begun. */
export const WRITE_UNIT_BYTES = 1024;

/**
 * One byte for every two significant digits, plus one (Amazon DynamoDB Developer Guide, "Item sizes and
 * formats").
 */
const numberBytes = (value: number): number => {
  const digits = value.toExponential().replace(/e.*$/, '').replaceAll(/\D/g, '').length;
  return Math.ceil(digits / 2) + (value < 0 ? 2 : 1);
};

/** A list or a map takes 3 bytes, plus one for each member. */
const CONTAINER_BYTES = 3;

const valueBytes = (value: unknown): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return numberBytes(value);
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) {
    return value.reduce((sum: number, one) => sum + 1 + valueBytes(one), CONTAINER_BYTES);
  }
  if (typeof value === 'object' && value !== null) {
    return CONTAINER_BYTES + Object.keys(value).length + itemBytes(value);
  }
  return 1;
};

/** Names and values in UTF-8, in bytes. What is `undefined` is not stored. */
export const itemBytes = (item: object): number =>
  Object.entries(item).reduce(
    (sum, [name, value]: [string, unknown]) =>
      value === undefined ? sum : sum + Buffer.byteLength(name) + valueBytes(value),
    0,
  );
