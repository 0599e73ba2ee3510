/** Tables of Markdown as the formatter leaves them, and the places in a page that are generated. */

/** A bar in a cell would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = [head, ...rows].map((row) => row.map(cell));
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [first = [], ...rest] = all;
  return [line(first), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest.map(line)].join(
    '\n',
  );
};

export const code = (text: string): string => `\`${text}\``;

const START = (name: string): string => `<!-- generated: ${name} (npm run docs) -->`;
const END = '<!-- end of what is generated -->';

/** The page with everything between its markers written anew. Throws for a marker that nothing is generated for. */
export const fill = (page: string, parts: Readonly<Record<string, () => string>>): string =>
  page.replaceAll(
    /<!-- generated: ([a-z-]+) \(npm run docs\) -->[\s\S]*?<!-- end of what is generated -->/g,
    (_, name: string) => {
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      if (part === undefined) throw new Error(`nothing is generated for the marker "${name}"`);
      return `${START(name)}\n\n${part()}\n\n${END}`;
    },
  );
