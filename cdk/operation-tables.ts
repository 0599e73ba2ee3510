/**
 * Reduces the AWS SDK in bundles. Each of its clients has a module of tables, one or more for each operation
 * of its service. Their members are named by constants, as in `{ [_h]: 200 }`. esbuild cannot tell that
 * computing such a name has no other effect, so it keeps the tables of every operation: 90 KB of S3's, for
 * five operations. With the plain names in their place, it keeps only the tables of the operations that a
 * function calls.
 */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const CONSTANT = /^const (_\w+) = ("[^"\\]*");$/gm;
const COMPUTED_NAME = /\[(_\w+)\]: /g;

/** The same module, with its members named by the constants' values. Pure. */
export const withPlainNames = (source: string): string => {
  const constants = new Map([...source.matchAll(CONSTANT)].map(([, name, value]) => [name, value]));
  return source.replace(COMPUTED_NAME, (computed, name: string) => {
    const value = constants.get(name);
    return value === undefined ? computed : `${value}: `;
  });
};

export const operationTables: Plugin = {
  name: 'operation-tables',
  setup: (bundling) => {
    bundling.onLoad({ filter: /[\\/]@aws-sdk[\\/].*[\\/]schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: withPlainNames(await readFile(path, 'utf8')),
    }));
  },
};
