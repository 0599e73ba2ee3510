/** The reference of the client, from the types that it exports, their comments, and the list of errors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientPackage } from '../../build/packages.ts';
import { ERROR_NAMES, ERRORS } from '../../contract/errors.ts';
import { type Declaration, exportsOf } from './declarations.ts';
import { code, table } from './markdown.ts';

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

export const clientReference = (): string =>
  Object.entries(clientPackage().exports)
    .filter(([path]) => !FOR_AUTHORS_OF_TOOLS.test(path))
    .map(moduleSection)
    .join('\n\n');

export const errorReference = (): string =>
  table(
    ['error', 'kind', 'the same call may work later', 'what to do'],
    ERROR_NAMES.map((name) => {
      const { kind, retryable, advice } = ERRORS[name];
      return [code(name), kind, retryable ? 'yes' : '', advice];
    }),
  );
