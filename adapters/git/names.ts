/**
 * Names in a sandbox are bytes, those of tables and answers are text. A name that is UTF-8 is itself. In any other, each
 * byte above ASCII is written `\xNN`; a backslash that would read as the start of one is `\x5c`. No two names have the same
 * text, so that what comes back from the store is the name that it was. Pure.
 */

/** What stands for one byte: above ASCII, or the backslash. */
const ESCAPED = /\\x([89a-f][0-9a-f]|5c)/g;

const escaped = (text: string): string => text.replace(ESCAPED, '\\x5cx$1');

/** The bytes of a name as text, for tables, answers and people. */
export const decodeName = (bytes: Uint8Array): string => {
  try {
    return escaped(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    const text = escaped(Buffer.from(bytes).toString('latin1'));
    return text.replace(/[\u0080-\u00ff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);
  }
};

/** A name as a word of bash, in the bytes it had: undefined when it is text like any other. */
export const quoteOddName = (text: string): string | undefined => {
  if (text.search(ESCAPED) < 0) return undefined;
  // Between the bytes that are written out stands text, in which a backslash is one.
  const parts = text.split(ESCAPED).map((part, index) => {
    if (index % 2 === 1) return `\\x${part}`;
    return part.replace(/[\\']/g, '\\$&');
  });
  return `$'${parts.join('')}'`;
};
