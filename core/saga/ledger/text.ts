/**
 * Fits foreign text into a column: cut to size, and never within a character, because DynamoDB refuses half
 * characters.
 */

/** The beginning of a text, at most `max` UTF-16 units. A character is kept whole or left out. */
export const clip = (text: string, max: number): string => {
  const cut = text.length > max ? text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '') : text;
  return cut.toWellFormed();
};

const CODE = /^[A-Za-z0-9_.-]{1,100}$/;

/** A foreign error as the ledger names it. If its name is not usable, it goes into the message. */
export const errorOf = (name: string, message: string, max: number): { name: string; message: string } =>
  CODE.test(name)
    ? { name, message: clip(message, max) }
    : { name: 'ToolError', message: clip(name === '' ? message : `${name}: ${message}`, max) };
