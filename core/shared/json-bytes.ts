/** Bytes of a value as JSON in UTF-8; none of what JSON leaves out. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
