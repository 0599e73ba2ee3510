/**
 * Whether the `JSON.parse` of Node 24 reads this back. After an object with a member called `\`, it takes other names of one
 * escaped character for that name (nodejs/node#63785).
 */
export const isReadable = (value: unknown): boolean => !JSON.stringify(value).includes(String.raw`"\\":`);
