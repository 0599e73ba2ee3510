/** Lists of shell commands, one a line. */

const lines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** `⏎` stands for a line break in a command. */
export const scripts = (text: string): string[] => lines(text).map((line) => line.replaceAll('⏎', '\n'));
