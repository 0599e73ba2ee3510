/** What the pages hold of contract/. Pure. */
import { ERROR_NAMES, ERRORS } from '../../contract/errors.ts';
import { EXIT_CODES } from '../../contract/exit-codes.ts';
import { FUNCTION_ROWS, type NamedRow } from '../../contract/functions.ts';
import { templates } from '../../tools/templates/catalog.ts';
import { clientReference, errorReference } from './api.ts';
import { commandOptions } from './commands.ts';
import { type Field, fieldsOf } from './fields.ts';
import { code, table } from './markdown.ts';
import { templateReference } from './templates.ts';

const isForCallers = ({ callers }: NamedRow): boolean => callers.some((caller) => caller !== 'internal');

const called = (): readonly NamedRow[] => FUNCTION_ROWS.filter(isForCallers);

const deployed = ({ name }: NamedRow): string => `walkback-${name}`;

/** Which functions there are. */
const functionList = (): string =>
  table(
    ['function', 'does', 'called by'],
    called().map((row) => [
      `[${code(deployed(row))}](#${deployed(row)})`,
      row.description,
      row.callers.join(', '),
    ]),
  );

const fieldTable = (fields: readonly Field[], isInput: boolean): string =>
  fields.length === 0
    ? 'No fields.'
    : table(
        ['field', 'type', ...(isInput ? ['required'] : []), 'meaning'],
        fields.map(({ path, type, isRequired, description }) => [
          code(path),
          isInput || isRequired ? type : `${type}, optional`,
          ...(isInput ? [isRequired ? 'yes' : ''] : []),
          description,
        ]),
      );

const section = (row: NamedRow): string => {
  const { description, callers, timeoutSeconds, input, answer } = row;
  const answers =
    answer === undefined ? 'Nothing that is promised.' : fieldTable(fieldsOf(answer(), 'output'), false);
  return [
    `### ${deployed(row)}`,
    `${description}. Called by ${callers.join(', ')}; ends after ${timeoutSeconds} s at the latest.`,
    'Takes:',
    input === undefined ? 'What AWS sends it.' : fieldTable(fieldsOf(input(), 'input'), true),
    'Answers:',
    answers,
  ].join('\n\n');
};

const functionReference = (): string => called().map(section).join('\n\n');

const internalFunctions = (): string =>
  table(
    ['function', 'does', 'seconds'],
    FUNCTION_ROWS.filter((row) => !isForCallers(row)).map((row) => [
      code(deployed(row)),
      row.description,
      String(row.timeoutSeconds),
    ]),
  );

const errorTable = (): string =>
  table(
    ['error', 'kind', 'the same call may work later', 'exit code', 'what to do'],
    ERROR_NAMES.map((name) => {
      const { kind, retryable, exitCode, advice } = ERRORS[name];
      return [code(name), kind, retryable ? 'yes' : '', String(EXIT_CODES[exitCode].code), advice];
    }),
  );

const exitCodeTable = (): string =>
  table(
    ['exit code', 'meaning', 'errors'],
    Object.entries(EXIT_CODES).map(([exitCode, { code: number, meaning }]) => [
      String(number),
      meaning,
      ERROR_NAMES.filter((name) => ERRORS[name].exitCode === exitCode)
        .map(code)
        .join(', '),
    ]),
  );

export const PARTS: Readonly<Record<string, () => string>> = {
  'function-list': functionList,
  'function-reference': functionReference,
  'internal-functions': internalFunctions,
  errors: errorTable,
  'exit-codes': exitCodeTable,
  'command-options': commandOptions,
  templates: () => templateReference(templates),
  'client-reference': clientReference,
  'error-reference': errorReference,
};
