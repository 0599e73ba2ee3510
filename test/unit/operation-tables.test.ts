/** The tables of the SDK's clients, as they go into a bundle: the same as the SDK's, and those of other operations left out. */
import { type BuildOptions, build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { BUNDLE_OPTIONS } from '../../cdk/bundle-options.ts';
import { withPlainNames } from '../../cdk/operation-tables.ts';

const CLIENTS = ['dynamodb', 'eventbridge', 'kms', 'lambda', 's3', 'secrets-manager', 'sfn'];

const bundled = async (contents: string, more: BuildOptions = {}): Promise<string> => {
  const { outputFiles } = await build({
    ...BUNDLE_OPTIONS,
    splitting: false,
    stdin: { contents, resolveDir: import.meta.dirname },
    write: false,
    ...more,
  });
  return outputFiles?.[0]?.text ?? '';
};

/** Functions as their text: they name other tables. */
const asText = (_: string, value: unknown): unknown => (typeof value === 'function' ? String(value) : value);

describe('tables of operations', () => {
  test('are the same with plain names', async () => {
    const source = CLIENTS.map(
      (name) =>
        `export * as ${name.replace('-', '')} from '@aws-sdk/client-${name}/dist-es/schemas/schemas_0.js';`,
    ).join('\n');
    const tablesOf = async (text: string): Promise<string> =>
      JSON.stringify(await import(`data:text/javascript,${encodeURIComponent(text)}`), asText);
    const banner = { js: '' };
    const plain = await tablesOf(await bundled(source, { banner }));
    expect(plain.length).toBeGreaterThan(100_000);
    expect(plain).toBe(await tablesOf(await bundled(source, { banner, plugins: [] })));
  });

  test('of operations that are not called are left out', async () => {
    const text = await bundled(
      "import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'; globalThis.used = [GetObjectCommand, S3Client];",
    );
    expect(text).toContain('"GetObject"');
    expect(text).not.toContain('BucketLifecycleConfiguration');
  });

  test('keep a name that is no constant of the module', () => {
    const source = 'const _a = "b";\nconst c = { [_a]: 1, [_d]: 2 };';
    expect(withPlainNames(source)).toBe('const _a = "b";\nconst c = { "b": 1, [_d]: 2 };');
  });
});
