import { styleText } from 'node:util';

/** The part of a stream the CLI writes to; tests give one that collects. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Everything that the CLI knows about its process, read once in main.ts. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user of this process, by the machine's name for them. */
  readonly user?: string | undefined;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly now: () => Date;
}

type Style = 'bold' | 'dim' | 'inverse' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** How a view colours its text. Each function returns its text unchanged where no colour is wanted. */
export type Paint = Readonly<Record<Style, (text: string) => string>> & { readonly enabled: boolean };

/** NO_COLOR has priority over FORCE_COLOR, and both over the kind of stream. */
export const wantsColour = (env: Terminal['env'], output: Output): boolean => {
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false;
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '') return env['FORCE_COLOR'] !== '0';
  return output.isTTY === true && env['TERM'] !== 'dumb';
};

/** The caller decides whether to colour: Node would look at its own stdout and environment. */
export const createPaint = (enabled: boolean): Paint => {
  const painter = (style: Style) => (text: string) =>
    enabled ? styleText(style, text, { validateStream: false }) : text;
  return {
    enabled,
    bold: painter('bold'),
    dim: painter('dim'),
    inverse: painter('inverse'),
    red: painter('red'),
    green: painter('green'),
    yellow: painter('yellow'),
    blue: painter('blue'),
    magenta: painter('magenta'),
    cyan: painter('cyan'),
  };
};

export const paintFor = (terminal: Terminal, output: Output = terminal.stdout): Paint =>
  createPaint(wantsColour(terminal.env, output));

/**
 * Columns for the layout: the terminal's, else `COLUMNS`, with a minimum. A terminal that does not say has
 * 80. Text that goes into a file or another program is never cut.
 */
export const widthOf = (terminal: Terminal, output: Output = terminal.stdout): number => {
  const asked = output.columns ?? Number(terminal.env['COLUMNS'] ?? Number.NaN);
  if (Number.isFinite(asked) && asked > 0) return Math.max(asked, 40);
  return output.isTTY === true ? 80 : Infinity;
};

/**
 * Columns for pages that people read and never give to another command, such as help. These are laid out
 * wherever they go.
 */
export const pageWidthOf = (terminal: Terminal, most: number): number => {
  const width = widthOf(terminal);
  return width === Infinity ? 80 : Math.min(width, most);
};
