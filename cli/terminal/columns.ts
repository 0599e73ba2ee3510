/**
 * How many columns a text takes on a terminal. The library that knows every script takes longer to load than
 * the rest of a small command. So it is loaded only when a text needs it, before an answer is laid out.
 */

/** Each of these characters takes one column: Latin, and the ones that we draw with. */
const PLAIN = String.raw`\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2319\u2500-\u25ef✔✖✘`;
const OTHER = new RegExp(`[^${PLAIN}\\n]`);
// oxlint-disable-next-line no-control-regex -- a colour begins with one
const COLOUR = /\u001b\[[\d;]*m/g;

const segmenter = new Intl.Segmenter();

/** The characters that a person sees. */
export const characters = (text: string): string[] =>
  Array.from(segmenter.segment(text), ({ segment }) => segment);

let measure = (text: string): number => characters(text).length;
let isLoaded = false;

/** Must be awaited before text from outside is laid out. Without it, each character counts as one column. */
export const prepareColumns = async (text: string): Promise<void> => {
  if (isLoaded || !OTHER.test(text.replaceAll(COLOUR, ''))) return;
  measure = (await import('string-width')).default;
  isLoaded = true;
};

/** Columns of a text without its colours: two for East Asian characters and emoji, none for marks. */
export const visibleLength = (text: string): number => {
  const plain = text.includes('\u001b') ? text.replaceAll(COLOUR, '') : text;
  return OTHER.test(plain) ? measure(plain) : plain.replaceAll('\n', '').length;
};
