/** The kept template is made again when anything changes that it is made from. */
import { glob, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/program.ts';
import { INPUTS } from '../../local/synthesis.ts';

const importsOf = async (file: string): Promise<string[]> => {
  const text = await readFile(join(PROJECT, file), 'utf8');
  return [...text.matchAll(/from '(\.{1,2}\/[^']+)'/g)].map(([, path = '']) =>
    relative(PROJECT, resolve(PROJECT, dirname(file), path)),
  );
};

test('every file that cdk/app.ts loads is one of its inputs', async () => {
  const known = new Set(await Array.fromAsync(glob(INPUTS, { cwd: PROJECT })));
  const seen = new Set<string>();
  const waiting = ['cdk/app.ts'];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    waiting.push(...(await importsOf(file)));
  }
  expect(seen).toContain('contract/saga-functions.ts');
  expect([...seen].filter((file) => !known.has(file))).toEqual([]);
});
