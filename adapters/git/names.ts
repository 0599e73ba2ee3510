/**
 * Converts names: in a sandbox they are bytes, in tables and answers they are text. A name in valid UTF-8 is
 * its own text. In any other name, each byte above ASCII is written `\xNN`, and a backslash that would look
 * like the start of such a code is `\x5c`. No two names have the same text, so a text from the store always
 * gives back the original name. Pure.
 */

/** The code for one byte: a byte above ASCII, or the backslash. */
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
