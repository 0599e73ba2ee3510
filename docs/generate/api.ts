/** The reference of the client, from the types that it exports, their comments, and the list of errors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientPackage } from '../../build/packages.ts';
import { adviceInCode } from '../../client/advice.ts';
import { ERROR_NAMES, ERRORS } from '../../contract/errors.ts';
import { type Declaration, exportedBy, exportsOf } from './declarations.ts';
import { code, table } from './markdown.ts';
import { namedTypes } from './named-types.ts';

const PROJECT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

/** docs/tools.md is about these. */
const FOR_AUTHORS_OF_TOOLS = /^\.\/kit/;

/** Not as `ts`: the formatter would lay out what are parts of declarations. */
const block = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;

const body = ({ kind, signature, members }: Declaration): string[] => {
  if (kind === 'function' || kind === 'type') return [block(signature)];
  const bases = kind === 'interface' && signature !== '' ? [`With everything of ${code(signature)}.`] : [];
  if (members.length === 0) return bases;
  const rows = members.map((member) => [code(member.signature), member.text]);
  return [...bases, table([kind === 'class' ? 'member' : 'field', 'meaning'], rows)];
};

const section = (declaration: Declaration): string =>
  [
    `### ${declaration.name}`,
    ...(declaration.text === '' ? [] : [declaration.text]),
    ...body(declaration),
  ].join('\n\n');

const moduleSection = ([path, source]: [string, string]): string => {
  const name = path === '.' ? 'walkback' : `walkback/${path.slice(2)}`;
  return [`## ${code(name)}`, ...exportsOf(source, read).map(section)].join('\n\n');
};

const entries = (): [string, string][] =>
  Object.entries(clientPackage().exports).filter(([path]) => !FOR_AUTHORS_OF_TOOLS.test(path));

/** Types of the contract and the kit, which other pages are about. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  RequestOf:
    'What a function takes, as [functions.md](functions.md) has it; `Request` is the same with the rules between fields.',
  AnswerOf: 'What a function answers, as [functions.md](functions.md) has it.',
  CallableName:
    'The name of a function that takes a request ([functions.md](functions.md)), without `walkback-`.',
  RewindRequest:
    'What `rewind` takes ([functions.md](functions.md#walkback-rewind)), of a saga and of a session.',
  CheckpointAnswer: "`Answer<'checkpoint'>`",
  RollbackAnswer: "`Answer<'rollback'>`",
  StandingEffect: "One of `effects` of `Answer<'rollback'>`",
  LedgerRow: "One of `entries` of `Answer<'query-ledger'>`",
  SagaSummary: "One of `sagas` of `Answer<'list-sagas'>`",
  ListedSession: "One of `sessions` of `Answer<'list-sessions'>`",
  ListedCopy: "One of `copies` of `Answer<'list-copies'>`",
  Progress: "`progress` of `Answer<'progress'>`, where it is not null",
  ErrorName: 'The name of one of the [errors](#errors-1).',
  Json: 'A value that JSON can hold.',
  Tool: 'What `defineTool` answers ([tools.md](tools.md)).',
};

/** Names a second time, or of nothing: a reader could not tell what is meant. */
const requireEachOnce = (names: readonly string[]): void => {
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  if (twice.length > 0)
    throw new Error(`Types of one name, where docs/api.md shows both: ${twice.join(', ')}`);
};

/** Types that are shown above by name only. */
const namedSection = (): string => {
  const shown = entries().flatMap(([, source]) => exportedBy(source, read));
  const places = shown.map(({ path, local }) => ({ path, name: local }));
  const { inside, outside } = namedTypes(places, 'client/', read);
  const exported = new Set(shown.map(({ name }) => name));
  requireEachOnce([...exported, ...[...inside, ...outside].map(({ name }) => name)]);
  const rows = outside.map(({ name, path }) => {
    const meaning = ELSEWHERE[name];
    if (meaning === undefined)
      throw new Error(`docs/generate/api.ts does not say what ${name} of ${path} is`);
    return [code(name), meaning];
  });
  const idle = Object.keys(ELSEWHERE).filter((name) => outside.every((one) => one.name !== name));
  if (idle.length > 0) throw new Error(`Nothing in docs/api.md names ${idle.join(', ')}`);
  return [
    '## Types that these name',
    'They are not exported, so that they may change; what they say holds.',
    table(['type of the contract', 'is'], rows),
    ...inside.map(section),
  ].join('\n\n');
};

export const clientReference = (): string => [...entries().map(moduleSection), namedSection()].join('\n\n');

export const errorReference = (): string =>
  table(
    ['error', 'kind', 'the same call may work later', 'what to do'],
    ERROR_NAMES.map((name) => {
      const { kind, retryable } = ERRORS[name];
      return [code(name), kind, retryable ? 'yes' : '', adviceInCode(name) ?? ''];
    }),
  );
