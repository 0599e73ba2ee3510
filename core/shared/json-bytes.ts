/** Size of a value as JSON, in bytes of UTF-8; 0 for a value that JSON leaves out. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
