import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '../../api/openapi.ts';
import * as client from '../../client/index.ts';
import { ERROR_NAMES } from '../../contract/errors.ts';
import { FUNCTION_ROWS } from '../../contract/functions.ts';
import { exportsOf } from '../../docs/generate/declarations.ts';
import { fieldsOf } from '../../docs/generate/fields.ts';
import { fill, table } from '../../docs/generate/markdown.ts';
import { PARTS } from '../../docs/generate/parts.ts';
import manifest from '../../package.json' with { type: 'json' };

const PROJECT = join(import.meta.dirname, '../..');
const read = (page: string): string => readFileSync(join(PROJECT, page), 'utf8');

describe('what the docs hold of the contract', () => {
  test.each(['docs/functions.md', 'docs/cli.md', 'docs/api.md', 'docs/templates.md'])(
    '%s is current (npm run docs)',
    (page) => {
      const text = read(page);
      expect(text).toContain('<!-- generated: ');
      expect(fill(text, PARTS)).toBe(text);
    },
  );

  test('is the OpenAPI document, which is one', async () => {
    expect(read('docs/openapi.json')).toBe(`${JSON.stringify(openApiDocument(), null, 2)}\n`);
    const { valid, errors } = await new Validator().validate(JSON.parse(read('docs/openapi.json')));
    expect([valid, errors]).toEqual([true, undefined]);
    const broken = { ...openApiDocument(), paths: { 'no-slash': {} } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  test('is every function, with every field it takes and answers', () => {
    const text = read('docs/functions.md');
    for (const { name, callers, input, answer } of FUNCTION_ROWS) {
      expect(text).toContain(`walkback-${name}`);
      if (callers.every((caller) => caller === 'internal')) continue;
      expect(input, name).toBeDefined();
      expect(answer, `${name} promises no answer`).toBeDefined();
      const fields = [
        ...fieldsOf(input?.() ?? z.never(), 'input'),
        ...fieldsOf(answer?.() ?? z.never(), 'output'),
      ];
      expect(fields.length).toBeGreaterThan(0);
      for (const { path } of fields) expect(text).toContain(`| \`${path}\``);
    }
  });

  test('is everything that the client exports, with every member, and every error', () => {
    const text = read('docs/api.md');
    for (const name of Object.keys(client)) expect(text).toContain(`### ${name}\n`);
    for (const name of ERROR_NAMES) expect(text).toContain(`| \`${name}\``);
    for (const member of Object.getOwnPropertyNames(new client.Walkback({ start: false })))
      expect(text, member).toContain(`| \`readonly ${member}:`);
    for (const path of Object.keys(manifest.exports).filter((one) => !/^\.(\/kit.*)?$/.test(one)))
      expect(text).toContain(`## \`walkback/${path.slice(2)}\`\n`);
  });

  test('a declaration is read with its comment, its members and all its overloads', () => {
    const files: Record<string, string> = {
      'a/index.ts':
        "export { go as went, type Way } from './go.ts';\n/** Counts. */\nexport const count = (of: string): number => of.length;\n",
      'a/go.ts':
        '/** Which\n * way. */\nexport interface Way extends Base {\n  /** How far, in bytes. */\n  bytes?: number;\n  go(): void;\n}\n' +
        'export function go(a: string): void;\nexport function go(a: number): void;\nexport function go(a: unknown): void {}\n',
    };
    expect(exportsOf('a/index.ts', (path) => files[path] ?? '')).toEqual([
      {
        name: 'went',
        kind: 'function',
        text: '',
        signature: 'function go(a: string): void\nfunction go(a: number): void',
        members: [],
      },
      {
        name: 'Way',
        kind: 'interface',
        text: 'Which way.',
        signature: 'Base',
        members: [
          { signature: 'bytes?: number', text: 'How far, in bytes.' },
          { signature: 'go(): void', text: '' },
        ],
      },
      {
        name: 'count',
        kind: 'function',
        text: 'Counts.',
        signature: 'const count = (of: string): number',
        members: [],
      },
    ]);
    expect(() => exportsOf('b.ts', () => "export { none } from './c.ts';")).toThrow('none');
  });

  test('a marker that nothing is generated for is refused', () => {
    const page = '<!-- generated: nothing (npm run docs) -->\n<!-- end of what is generated -->';
    expect(() => fill(page, PARTS)).toThrow('nothing');
  });

  test('a field is named with its path, type, range and meaning', () => {
    const schema = z.strictObject({
      names: z.array(z.string().max(5)).max(2).optional().describe('of people'),
      pet: z.object({ kind: z.enum(['cat', 'dog']), age: z.int().min(0).nullable() }),
    });
    expect(fieldsOf(schema, 'input')).toEqual([
      {
        path: 'names',
        type: 'array of string of at most 5 (at most 2)',
        isRequired: false,
        description: 'of people',
      },
      { path: 'pet', type: 'object', isRequired: true, description: '' },
      { path: 'pet.kind', type: '"cat" or "dog"', isRequired: true, description: '' },
      { path: 'pet.age', type: 'integer or null', isRequired: true, description: '' },
    ]);
  });

  test('a bar in a cell ends no cell', () => {
    expect(table(['a'], [['b|c']])).toBe('| a    |\n| ---- |\n| b\\|c |');
  });
});
