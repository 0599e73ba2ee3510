/**
 * Syntax colours: which parts of a line are which kind of word. The library gives kinds and lengths, never
 * markup. Pure.
 */

import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import core, { type Emitter } from '#highlight';

const GRAMMARS = {
  bash,
  c,
  cpp,
  csharp,
  css,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  makefile,
  markdown,
  php,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

const highlighter = core.newInstance();
for (const [name, grammar] of Object.entries(GRAMMARS)) highlighter.registerLanguage(name, grammar);

/**
 * Added to the names and aliases that the grammars bring: ts, tsx, js, py, rb, rs, yml, html, toml, md, sh
 * and more.
 */
const BY_NAME: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  gemfile: 'ruby',
};
const BY_ENDING: Readonly<Record<string, string>> = {
  mts: 'typescript',
  cts: 'typescript',
  mk: 'makefile',
  h: 'c',
  hpp: 'cpp',
  scss: 'css',
  less: 'css',
  vue: 'xml',
};

/** Undefined: the language is not known, so there are no colours. */
export const languageOf = (path: string): string | undefined => {
  const name = (path.split('/').at(-1) ?? '').toLowerCase();
  const ending = name.includes('.') ? (name.split('.').at(-1) ?? '') : '';
  const language = BY_NAME[name] ?? BY_ENDING[ending] ?? ending;
  return language !== '' && highlighter.getLanguage(language) !== undefined ? language : undefined;
};

/** `length` characters of one kind; undefined means plain. */
export interface Piece {
  length: number;
  kind: string | undefined;
}

/** Only a few kinds get a colour. All others stay plain. */
const KINDS: Readonly<Record<string, string>> = {
  comment: 'c',
  quote: 'c',
  meta: 'c',
  string: 's',
  regexp: 's',
  char: 's',
  number: 'n',
  literal: 'n',
  symbol: 'n',
  keyword: 'k',
  'selector-tag': 'k',
  section: 'k',
  title: 'f',
  name: 'f',
  attr: 'a',
  attribute: 'a',
  type: 't',
  built_in: 't',
};

/** Collects pieces line by line while the library reads. A scope is `title.function`, or `language:css`. */
class Lines implements Emitter {
  readonly lines: Piece[][] = [[]];
  private readonly scopes: (string | undefined)[] = [];

  addText(text: string): void {
    for (const [index, { length }] of text.split('\n').entries()) {
      if (index > 0) this.lines.push([]);
      if (length > 0) this.lines.at(-1)?.push({ length, kind: this.scopes.at(-1) });
    }
  }

  startScope(scope: string): void {
    this.scopes.push(KINDS[scope.split('.')[0] ?? ''] ?? this.scopes.at(-1));
  }

  endScope(): void {
    this.scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  /** Receives the tokens of a language inside another one, like CSS in HTML. */
  __addSublanguage(emitter: Emitter): void {
    if (!(emitter instanceof Lines)) return;
    for (const [index, line] of emitter.lines.entries()) {
      if (index > 0) this.lines.push([]);
      this.lines.at(-1)?.push(...line);
    }
  }

  finalize(): void {
    this.scopes.length = 0;
  }

  toHTML(): string {
    return '';
  }
}

highlighter.configure({ __emitter: Lines });

/** The pieces of each line. */
export const colourLines = (lines: readonly string[], language: string): Piece[][] => {
  const { _emitter: read, errorRaised } = highlighter.highlight(lines.join('\n'), {
    language,
    ignoreIllegals: true,
  });
  // The library reports its own errors here and does not throw them. Then there are no colours.
  return read instanceof Lines && errorRaised === undefined ? read.lines : [];
};
