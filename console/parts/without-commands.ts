/** Texts of functions as pages show them. Pure. */

/** One sentence, or a part of it that ends with a semicolon. What is quoted may hold both. */
const SENTENCES = /(?:"[^"]*"|[^".;]|[.;](?!\s|$)|")*(?:[.;]+\s*|$)/g;
const QUOTED = /"[^"]*"/g;
/** A command, a function, an option of a command, or a call of the client. `walkback-demo:` and `walkback-demo/` are a repository. */
const COMMAND =
  /\bwalkback [a-z]|(?<![\w./-])walkback-[a-z][a-z-]*(?![\w/:-])|(?:^|[\s(])--[a-z]|\bsession\.[a-z]+\(/;

/**
 * Without the sentences that send to a command, a function or a program: what to do on a page, the page says. A text that has nothing
 * else stays as it is.
 */
export const withoutCommands = (text: string): string => {
  const left = (text.match(SENTENCES) ?? [])
    .filter((sentence) => !COMMAND.test(sentence.replaceAll(QUOTED, '""')))
    .join('')
    .trimEnd()
    .replace(/;$/, '');
  return left === '' ? text : left;
};
