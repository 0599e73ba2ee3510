/** What a rule about a command can know about its arguments before the shell has run. */
import type { Word, WordPart } from 'unbash';

export type Argument =
  /** Exactly this text. */
  | { kind: 'known'; value: string }
  /** One or more words that do not begin with a dash, so none is an option. */
  | { kind: 'operand' }
  /** Could be anything, including an option. */
  | { kind: 'unknown' };

const UNKNOWN: Argument = { kind: 'unknown' };
const OPERAND: Argument = { kind: 'operand' };

const literalOf = (part: WordPart): string | undefined => {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted')
    return part.value;
  if (part.type !== 'DoubleQuoted') return undefined;
  const texts = part.parts.map((child) => (child.type === 'Literal' ? child.value : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
};

/** The text that a quoted part begins with. */
const beginsWith = (part: WordPart | undefined): string => {
  const child = part?.type === 'DoubleQuoted' ? part.parts[0] : undefined;
  return child?.type === 'Literal' ? child.value : '';
};

/**
 * The part can only add names of files after the literal text before it. It cannot make another word of
 * arbitrary text.
 */
const keepsWord = (part: WordPart): boolean => part.type === 'DoubleQuoted' || part.type === 'Glob';

export const argumentOf = ({ value, parts }: Word): Argument => {
  if (parts === undefined) return { kind: 'known', value };
  const literals = parts.map(literalOf);
  if (!literals.includes(undefined)) return { kind: 'known', value: literals.join('') };
  const begins = literals[0] ?? beginsWith(parts[0]);
  const rest = parts.every((part, index) => literals[index] !== undefined || keepsWord(part));
  return rest && begins !== '' && !begins.startsWith('-') ? OPERAND : UNKNOWN;
};

/** Whether a command with these arguments changes nothing. */
export type Rule = (args: readonly Argument[]) => boolean;

/** No argument matches or could match. */
export const without =
  (forbidden: RegExp): Rule =>
  (args) =>
    args.every((arg) => arg.kind === 'operand' || (arg.kind === 'known' && !forbidden.test(arg.value)));

/**
 * The arguments as texts, with an unknown operand written as a file name. Undefined when one may be an
 * option.
 */
const textsOf = (args: readonly Argument[]): string[] | undefined => {
  const texts = args.map((arg) =>
    arg.kind === 'known' ? arg.value : arg.kind === 'operand' ? 'operand' : undefined,
  );
  return texts.some((text) => text === undefined) ? undefined : texts.filter((text) => text !== undefined);
};

/** A rule over texts. Arguments that may be options are refused before the rule is asked. */
export const over =
  (rule: (texts: readonly string[]) => boolean): Rule =>
  (args) => {
    const texts = textsOf(args);
    return texts !== undefined && rule(texts);
  };
