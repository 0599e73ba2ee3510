/**
 * Decides whether a shell command changes nothing. The command is parsed, and every node of it must be known
 * to be harmless: a command of the list, a redirection to nowhere, an expansion that evaluates nothing.
 * Everything else counts as a write.
 */
import {
  type Assignment,
  type Command,
  type HereDocBody,
  type ParameterExpansionPart,
  parse,
  type Redirection,
  type Script,
  type SyntaxNode,
  type TestExpression,
  type Word,
  type WordPart,
} from 'unbash';
import { argumentOf } from './shell-arguments.ts';
import { ruleFor } from './shell-commands.ts';

/** A longer text is a program and not just a look. */
const MOST_CHARACTERS = 20_000;
/** Terminals and shells treat these differently. */
const ODD_CHARACTERS = /[^\P{Cc}\n\t]/u;
/** An old way to write arithmetic, which the parser takes for text. */
const OLD_ARITHMETIC = '$[';

/** Variables that may be set for a command: none of them names a program or a place to load code from. */
const HARMLESS_VARIABLE = /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM)$/;
/** The shell's own variables are in capitals. */
const OWN_VARIABLE = /^[a-z_][a-z0-9_]*$/;

const VARIABLE = /^(?:[A-Za-z_][A-Za-z0-9_]*|\d+|[@*#?$!-])$/;
/** In arithmetic, a variable's value is evaluated, whatever it is. */
const PLAIN_ARITHMETIC = /^[\d\s+\-*/%()<>=!&|^~?:]*$/;

const all = <T>(items: readonly T[] | undefined, reads: (item: T) => boolean): boolean =>
  items?.every(reads) ?? true;

const isOperation = ({ operation, parameter }: ParameterExpansionPart): boolean => {
  if (operation === undefined) return true;
  switch (operation.type) {
    case 'Default':
      return (
        wordReads(operation.operand) && (!operation.operator.includes('=') || OWN_VARIABLE.test(parameter))
      );
    case 'Remove':
      return wordReads(operation.operand);
    case 'Replace':
      return wordReads(operation.pattern) && wordReads(operation.replacement);
    case 'CaseModification':
      return operation.operand === undefined || wordReads(operation.operand);
    case 'Slice':
      return [operation.offset, operation.length].every((word) => /^\s*-?\d*\s*$/.test(word?.text ?? ''));
    case 'Transform':
    case 'Names':
    case 'Unknown':
      return false;
  }
};

const expansionReads = (part: ParameterExpansionPart): boolean =>
  part.prefix !== '!' &&
  VARIABLE.test(part.parameter) &&
  (part.index === undefined || /^(?:\d+|[@*])$/.test(part.index.text)) &&
  isOperation(part);

const partReads = (part: WordPart): boolean => {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'SimpleExpansion':
      return true;
    case 'DoubleQuoted':
      return part.parts.every(partReads);
    case 'ParameterExpansion':
      return expansionReads(part);
    case 'CommandExpansion':
      return part.script !== undefined && nodeReads(part.script);
    case 'ProcessSubstitution':
      return part.operator === '<' && part.script !== undefined && nodeReads(part.script);
    case 'ArithmeticExpansion':
      return PLAIN_ARITHMETIC.test(part.text.slice(3, -2));
    case 'Glob':
    case 'BraceExpansion':
      return !/[$`]/.test(part.text);
    // Other shells run code in these.
    case 'ExtendedGlob':
    case 'LocaleString':
      return false;
  }
};

const wordReads = (word: Word): boolean => all(word.parts, partReads);

const hereDocumentReads = ({ text, parts }: HereDocBody, isQuoted: boolean): boolean =>
  isQuoted || (parts === undefined ? !/[$`]/.test(text) : parts.every(partReads));

const redirectionReads = (redirection: Redirection): boolean => {
  const { type, descriptor } = redirection;
  if (descriptor?.type === 'FileDescriptorVariable') return false;
  if (type === 'HereDoc') {
    const { body, delimiter } = redirection;
    return delimiter !== undefined && hereDocumentReads(body, delimiter.quoted);
  }
  const { target } = redirection;
  if (target === undefined || !wordReads(target)) return false;
  const to = argumentOf(target);
  const text = to.kind === 'known' ? to.value : undefined;
  switch (redirection.operator) {
    case '<<<':
    case '<':
      return true;
    case '<&':
    case '>&':
      return text !== undefined && /^(?:\d|-)$/.test(text);
    case '>':
    case '>>':
    case '&>':
    case '&>>':
    case '>|':
      return text === '/dev/null';
    case '<>':
      return false;
  }
};

const assignmentReads = ({ name, value, index, append }: Assignment, allowed: RegExp): boolean => {
  if (!allowed.test(name) || index !== undefined || append === true) return false;
  return value.type === 'Word' ? wordReads(value) : value.elements.every(wordReads);
};

const commandReads = ({ name, prefix, suffix }: Command): boolean => {
  const allowed = name === undefined ? OWN_VARIABLE : HARMLESS_VARIABLE;
  const before = prefix.every((one) =>
    one.type === 'Assignment' ? assignmentReads(one, allowed) : redirectionReads(one),
  );
  if (!before) return false;
  const words: Word[] = [];
  for (const one of suffix) {
    if (one.type === 'Assignment') return false;
    if (one.type === 'Word') words.push(one);
    else if (!redirectionReads(one)) return false;
  }
  if (!words.every(wordReads)) return false;
  if (name === undefined) return words.length === 0;
  const called = argumentOf(name);
  const rule = called.kind === 'known' ? ruleFor(called.value) : undefined;
  return rule !== undefined && rule(words.map(argumentOf));
};

const TEXT_OPERATORS = /^(?:==?|!=|=~|<|>|-nt|-ot|-ef)$/;
const isNumber = ({ text }: Word): boolean => /^-?\d+$/.test(text);

const testReads = (expression: TestExpression): boolean => {
  switch (expression.type) {
    case 'TestUnary':
      return !/^-[vR]$/.test(expression.operator) && wordReads(expression.operand);
    case 'TestBinary': {
      const { left, right, operator } = expression;
      if (!wordReads(left) || !wordReads(right)) return false;
      // The other operators calculate, and a variable in a calculation is evaluated.
      return TEXT_OPERATORS.test(operator) || (isNumber(left) && isNumber(right));
    }
    case 'TestLogical':
      return expression.operands.every(testReads);
    case 'TestNot':
      return testReads(expression.operand);
    case 'TestGroup':
      return testReads(expression.expression);
  }
};

const scriptReads = (script: Script & { errors?: readonly unknown[] | undefined }): boolean =>
  (script.errors ?? []).length === 0 && script.commands.every(nodeReads);

const nodeReads = (node: SyntaxNode): boolean => {
  switch (node.type) {
    case 'Script':
      return scriptReads(node);
    case 'Statement':
      return nodeReads(node.command);
    case 'CompoundList':
    case 'AndOr':
    case 'Pipeline':
      return all<SyntaxNode>(node.commands, nodeReads);
    case 'Command':
      return commandReads(node);
    case 'Redirected':
      return nodeReads(node.command) && node.redirects.every(redirectionReads);
    case 'Subshell':
    case 'BraceGroup':
      return nodeReads(node.body);
    case 'If':
      return (
        nodeReads(node.clause) &&
        nodeReads(node.then) &&
        node.elif.every((one) => nodeReads(one.clause) && nodeReads(one.then)) &&
        (node.else === undefined || nodeReads(node.else))
      );
    case 'While':
      return nodeReads(node.clause) && nodeReads(node.body);
    case 'For':
      return OWN_VARIABLE.test(node.name.text) && all(node.wordlist, wordReads) && nodeReads(node.body);
    case 'Case':
      return (
        wordReads(node.word) &&
        node.items.every(({ pattern, body }) => pattern.every(wordReads) && nodeReads(body))
      );
    case 'TestCommand':
      return testReads(node.expression);
    // Functions, coprocesses, arithmetic commands, and anything that does not begin a command.
    default:
      return false;
  }
};

/**
 * Whether this text, run by bash, sh or zsh, changes nothing. A text that cannot be parsed, or has an unknown
 * part, counts as a write.
 */
export const isReadOnlyShell = (text: string): boolean => {
  if (text.length > MOST_CHARACTERS || ODD_CHARACTERS.test(text) || text.includes(OLD_ARITHMETIC))
    return false;
  const script = parse(text);
  return script.commands.length > 0 && scriptReads(script);
};
