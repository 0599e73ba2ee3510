/** Reads what a module exports: names, their declarations as source text, and what their comments say. Pure but for the reader. */
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';

interface Member {
  signature: string;
  /** Of its comment; empty: it has none. */
  text: string;
}

export interface Declaration {
  name: string;
  kind: 'interface' | 'class' | 'function' | 'type';
  text: string;
  /** Of an interface: what it extends. Of a function or type: the whole. */
  signature: string;
  members: readonly Member[];
}

export type Read = (path: string) => string;
type Program = ReturnType<typeof parseSync>['program'];
export type Statement = Program['body'][number];

interface Span {
  start: number;
  end: number;
}

export interface Module {
  source: string;
  program: Program;
  /** The comment that stands before a node, as plain text. */
  before(node: Span): string;
  slice(node: Span): string;
}

/** The text of a comment, on one line. */
const plain = (comment: string): string =>
  comment
    .replaceAll(/^[ \t]*\* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Source on one line, as the tables have it. */
const oneLine = (source: string): string =>
  source
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/[;,]$/, '')
    .replace(/^override /, '')
    .trim();

export const open = (path: string, read: Read): Module => {
  const source = read(path);
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`);
  const docs = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
  return {
    source,
    program,
    slice: ({ start, end }) => source.slice(start, end),
    before: ({ start }) => {
      const last = docs.findLast(({ end }) => end <= start && source.slice(end, start).trim() === '');
      return last === undefined ? '' : plain(last.value);
    },
  };
};

/** `(a: string): number`, without the body, as it is written. */
const headOf = (module: Module, node: Span, body: Span | null | undefined): string =>
  module.source
    .slice(node.start, body?.start ?? node.end)
    .replace(/(=>|=)\s*$/, '')
    .trim();

const isPublic = (name: string): boolean => !name.startsWith('#');

/** What a statement declares by this name; undefined: it declares another. */
export const describe = (module: Module, name: string, statement: Statement): Declaration | undefined => {
  const isExport = statement.type === 'ExportNamedDeclaration';
  const node = isExport ? statement.declaration : statement;
  const text = module.before(statement);
  const member = (one: Span, signature: string): Member => ({ signature, text: module.before(one) });
  switch (node?.type) {
    case 'TSInterfaceDeclaration': {
      if (node.id.name !== name) return undefined;
      const bases = node.extends.map((one) => oneLine(module.slice(one))).join(', ');
      const members = node.body.body.map((one) => member(one, oneLine(module.slice(one))));
      return { name, kind: 'interface', text, signature: bases, members };
    }
    case 'ClassDeclaration': {
      if (node.id?.name !== name) return undefined;
      const members = node.body.body.flatMap((one): Member[] => {
        if (one.type === 'PropertyDefinition') return [member(one, oneLine(module.slice(one)))];
        if (one.type !== 'MethodDefinition') return [];
        const signature = oneLine(headOf(module, one, one.value.body));
        return isPublic(signature) ? [member(one, signature.replace(/^constructor/, `new ${name}`))] : [];
      });
      return { name, kind: 'class', text, signature: '', members };
    }
    case 'TSTypeAliasDeclaration':
      if (node.id.name !== name) return undefined;
      return { name, kind: 'type', text, signature: module.slice(node), members: [] };
    case 'FunctionDeclaration':
      if (node.id?.name !== name) return undefined;
      return { name, kind: 'function', text, signature: headOf(module, node, node.body), members: [] };
    case 'TSDeclareFunction':
      if (node.id?.name !== name) return undefined;
      return { name, kind: 'function', text, signature: oneLine(module.slice(node)), members: [] };
    case 'VariableDeclaration': {
      const one = node.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name);
      if (one === undefined) return undefined;
      const { init } = one;
      const body = init?.type === 'ArrowFunctionExpression' ? init.body : init;
      return { name, kind: 'function', text, signature: `const ${headOf(module, one, body)}`, members: [] };
    }
    default:
      return undefined;
  }
};

const nameOf = (node: { type: string; name?: unknown; value?: unknown }): string =>
  String(node.name ?? node.value);

interface Exported {
  name: string;
  /** Where it is declared, and by which name. */
  path: string;
  local: string;
}

/** What a module exports, in its order. */
export const exportedBy = (path: string, read: Read): Exported[] =>
  open(path, read).program.body.flatMap((statement): Exported[] => {
    if (statement.type !== 'ExportNamedDeclaration') return [];
    const { declaration, source } = statement;
    if (declaration === null) {
      const other = source === null ? path : join(dirname(path), source.value);
      return statement.specifiers.map(({ local, exported }) => ({
        name: nameOf(exported),
        path: other,
        local: nameOf(local),
      }));
    }
    const names =
      declaration.type === 'VariableDeclaration'
        ? declaration.declarations.map(({ id }) => (id.type === 'Identifier' ? id.name : ''))
        : 'id' in declaration && declaration.id !== null && 'name' in declaration.id
          ? [declaration.id.name]
          : [];
    return names.map((name) => ({ name, path, local: name }));
  });

/** Everything that a module exports, wherever that is declared. */
export const exportsOf = (path: string, read: Read): Declaration[] =>
  exportedBy(path, read).map(({ name, path: declaredIn, local }) => {
    const module = open(declaredIn, read);
    const all = module.program.body.flatMap((statement) => describe(module, local, statement) ?? []);
    const [first] = all;
    if (first === undefined) throw new Error(`${path} exports ${local}, which is not declared where it says`);
    // The last one of several is the body, which callers do not see.
    const shown = all.length > 1 ? all.slice(0, -1) : all;
    return { ...first, name, signature: shown.map(({ signature }) => signature).join('\n') };
  });
