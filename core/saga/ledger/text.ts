/** Text of others on its way into a column: no longer than it should be, and no half characters, which DynamoDB refuses. */

/** The beginning of a text, at most `max` UTF-16 units; a character is kept whole or left out. */
export const clip = (text: string, max: number): string => {
  const cut = text.length > max ? text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '') : text;
  return cut.toWellFormed();
};

const CODE = /^[A-Za-z0-9_.-]{1,100}$/;

/** An error of somebody else as the ledger names it; what is no name goes into the message. */
export const errorOf = (name: string, message: string, max: number): { name: string; message: string } =>
  CODE.test(name)
    ? { name, message: clip(message, max) }
    : { name: 'ToolError', message: clip(name === '' ? message : `${name}: ${message}`, max) };
