/** Which texts may become a link: what a tool declares as the address of an effect, and a reference that is one. */

/** As long as a reference may be. */
export const MAX_ADDRESS = 500;

/** Without blanks and marks that cannot be seen, and with a host. */
const FORM = /^https:\/\/[^\s\p{Cc}\p{Cf}/\\?#@]+(?:[/?#][^\s\p{Cc}\p{Cf}]*)?$/u;

/** https, and nothing else: never a script, and nobody's name or password in it. */
export const isWebAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS && FORM.test(text) && URL.canParse(text);
