/** The text below the options of a command: examples and paragraphs, laid out for the reader's width. */
import type { AddHelpTextContext } from 'commander';
import { wrap } from './text.ts';

/** An explanation beside its command has at least this many columns; otherwise it stands below. */
const LEAST_BESIDE = 24;
const BELOW = 6;
/** A line that begins this far right continues the line above. */
const DEEP = 16;

const indented = (text: string, width: number, indent: number): string =>
  wrap(text, width - indent)
    .split('\n')
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');

const besideOrBelow = (left: string, right: string, column: number, width: number): string =>
  width - column >= LEAST_BESIDE
    ? left.padEnd(column) + indented(right, width, column).trimStart()
    : `${left}\n${indented(right, width, BELOW)}`;

/** A part between two empty lines. */
const fitPart = (part: string, width: number): string => {
  const isOfExamples = /^(?:Examples|Try it):/.test(part);
  const fitted: ((more: string) => string)[] = [];
  const texts: string[] = [];
  let before = -1;
  for (const line of part.split('\n')) {
    const indent = line.length - line.trimStart().length;
    const [, left = '', gap = '', right] = /^( +\S.*?)( {2,})(\S.*)$/.exec(line) ?? [];
    if (indent >= DEEP && texts.length > 0) {
      texts[texts.length - 1] += ` ${line.trim()}`;
    } else if (right !== undefined) {
      texts.push(right);
      fitted.push((all) => besideOrBelow(left, all, left.length + gap.length, width));
      before = -1;
    } else if (indent === before && !isOfExamples) {
      texts[texts.length - 1] += ` ${line.trim()}`;
    } else {
      texts.push(line.trim());
      // An example is copied as it is.
      fitted.push((all) => (isOfExamples ? ' '.repeat(indent) + all : indented(all, width, indent)));
      before = indent;
    }
  }
  return fitted.map((fit, index) => fit(texts[index] ?? '')).join('\n');
};

const fitHelp = (text: string, width: number): string => {
  const body = text.trimStart();
  const parts = body.split('\n\n').map((part) => fitPart(part, width));
  return text.slice(0, -body.length) + parts.join('\n\n');
};

/** For `addHelpText`. */
export const helpText =
  (text: string) =>
  ({ command }: AddHelpTextContext): string =>
    fitHelp(text, command.configureOutput().getOutHelpWidth?.() ?? 80);
