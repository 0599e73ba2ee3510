/** Which types the declarations that are shown name, and where those are declared. Pure but for the reader. */
import { dirname, join } from 'node:path';
import { type Declaration, describe, type Module, open, type Read, type Statement } from './declarations.ts';

/** A declaration by the file that has it. */
export interface DeclaredName {
  path: string;
  name: string;
}

export const keyOf = ({ path, name }: DeclaredName): string => `${path} ${name}`;

type Node = Record<string, unknown> & { type: string };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const nameOf = (value: unknown): string =>
  isNode(value) && value.type === 'Identifier' ? String(value['name']) : '';

/** What is written of a node, without what a reader of the reference does not see. */
const visible = (node: Node): unknown[] => {
  const { key, body: _body, init, id, ...others } = node;
  if (isNode(key) && key.type === 'PrivateIdentifier') return [];
  if (/Function(Declaration|Expression)$/.test(node.type)) return Object.values(others);
  if (node.type === 'PropertyDefinition') return [node['typeAnnotation']];
  // Of a constant that is no function its type alone is shown.
  if (node.type === 'VariableDeclarator')
    return [id, ...(isNode(init) && init.type === 'ArrowFunctionExpression' ? [init] : [])];
  return Object.values(node);
};

/** Names of types in a declaration; those of its own parameters are none. */
const typesIn = (statement: unknown): Set<string> => {
  const named = new Set<string>();
  const own = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    if (value.type === 'TSTypeReference') named.add(nameOf(value['typeName']));
    if (value.type === 'TSInterfaceHeritage') named.add(nameOf(value['expression']));
    if (value.type === 'TSTypeParameter') own.add(nameOf(value['name']));
    if (value.type === 'TSMappedType') own.add(nameOf(value['key']));
    visible(value).forEach(visit);
  };
  visit(statement);
  for (const name of ['', ...own]) named.delete(name);
  return named;
};

const declares = (module: Module, name: string): Statement[] =>
  module.program.body.filter((statement) => describe(module, name, statement) !== undefined);

/** Where a name of a module is declared. Undefined: it is one of the language or of a package. */
const declarationOf = (path: string, module: Module, name: string): DeclaredName | undefined => {
  if (declares(module, name).length > 0) return { path, name };
  for (const statement of module.program.body) {
    if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('.')) continue;
    const one = statement.specifiers.find(({ local }) => local.name === name);
    if (one?.type !== 'ImportSpecifier') continue;
    return { path: join(dirname(path), statement.source.value), name: nameOf(one.imported) };
  }
  return undefined;
};

export interface NamedTypes {
  /** Declared beside what is shown, and not shown yet. */
  inside: readonly Declaration[];
  /** Declared elsewhere. */
  outside: readonly DeclaredName[];
}

/** Every type that the declarations at these places name, directly or through another; those below `folder` are inside. */
export const namedTypes = (shown: readonly DeclaredName[], folder: string, read: Read): NamedTypes => {
  const seen = new Set(shown.map(keyOf));
  const inside: Declaration[] = [];
  const outside: DeclaredName[] = [];
  const follow = ({ path, name }: DeclaredName): void => {
    const module = open(path, read);
    for (const type of declares(module, name).flatMap((statement) => [...typesIn(statement)])) {
      const place = declarationOf(path, module, type);
      if (place === undefined || seen.has(keyOf(place))) continue;
      seen.add(keyOf(place));
      if (!place.path.startsWith(folder)) {
        outside.push(place);
        continue;
      }
      const from = open(place.path, read);
      inside.push(...declares(from, place.name).flatMap((one) => describe(from, place.name, one) ?? []));
      follow(place);
    }
  };
  shown.forEach(follow);
  return { inside, outside };
};
