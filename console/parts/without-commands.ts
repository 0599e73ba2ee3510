/** Adapts texts of functions for pages. Pure. */

/** One sentence, or a part of one that ends with a semicolon. Quoted text may contain both. */
const SENTENCES = /(?:"[^"]*"|[^".;]|[.;](?!\s|$)|")*(?:[.;]+\s*|$)/g;
const QUOTED = /"[^"]*"/g;
/**
 * A command, a function, an option of a command, or a call of the client. `walkback-demo:` and
 * `walkback-demo/` are a repository.
 */
const COMMAND =
  /\bwalkback [a-z]|(?<![\w./-])walkback-[a-z][a-z-]*(?![\w/:-])|(?:^|[\s(])--[a-z]|\bsession\.[a-z]+\(/;

/**
 * Removes the sentences that refer to a command, a function or a program, because the page itself says what
 * to do. A text that has nothing else stays as it is.
 */
export const withoutCommands = (text: string): string => {
  const left = (text.match(SENTENCES) ?? [])
    .filter((sentence) => !COMMAND.test(sentence.replaceAll(QUOTED, '""')))
    .join('')
    .trimEnd()
    .replace(/;$/, '');
  return left === '' ? text : left;
};
