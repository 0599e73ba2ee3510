/**
 * The command and the client run on Node 20: a name that it does not export fails every module in the same file. What the
 * language has since then, `npm run typecheck` finds (build/older-node.tsconfig.json).
 */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../../local/program.ts';

/** What is packed. Node's names are checked where Node 20 itself runs the packages, too (test/infra/packages.long.test.ts). */
const PACKED = 'adapters api cli client console contract core functions integrations kit local'.split(' ');
/** They read the sources of a checkout, which needs Node 24. */
const CHECKOUT_ONLY = new Set(['local/synthesis.ts']);
/** Exported since Node 22 or 24, as its documentation says. */
const NEWER: Record<string, readonly string[]> = {
  'node:module': [
    'registerHooks',
    'enableCompileCache',
    'flushCompileCache',
    'getCompileCacheDir',
    'constants',
    'findPackageJSON',
    'stripTypeScriptTypes',
  ],
  'node:fs': ['glob', 'globSync', 'openAsBlob', 'mkdtempDisposableSync'],
  'node:fs/promises': ['glob', 'mkdtempDisposable'],
  'node:util': ['getCallSites', 'diff', 'setTraceSigInt'],
  'node:path': ['matchesGlob'],
  'node:crypto': ['hash', 'argon2', 'argon2Sync'],
  'node:zlib': ['zstdCompressSync', 'zstdDecompressSync', 'createZstdCompress', 'createZstdDecompress'],
  'node:process': ['getBuiltinModule', 'features', 'execve'],
  'node:worker_threads': ['isInternalThread', 'threadName', 'locks', 'postMessageToThread'],
};

const importsOf = (text: string): { from: string; names: string[] }[] =>
  [...text.matchAll(/import \{([^}]*)\} from '(node:[a-z_/]+)'/g)].map(([, names = '', from = '']) => ({
    from,
    names: names.split(',').map((name) => name.trim().split(' as ')[0] ?? ''),
  }));

test('nothing that is packed imports a name of Node that Node 20 does not have', async () => {
  const files = (
    await Promise.all(PACKED.map((folder) => Array.fromAsync(glob(`${folder}/**/*.ts`, { cwd: PROJECT }))))
  ).flat();
  const found: string[] = [];
  let imports = 0;
  for (const file of files) {
    if (CHECKOUT_ONLY.has(file)) continue;
    for (const { from, names } of importsOf(await readFile(join(PROJECT, file), 'utf8'))) {
      imports += 1;
      found.push(...names.filter((name) => NEWER[from]?.includes(name)).map((name) => `${file}: ${name}`));
    }
  }
  expect(found).toEqual([]);
  expect(imports).toBeGreaterThan(200);
});

test.each([
  ["import { registerHooks } from 'node:module';", ['registerHooks']],
  ["import {\n  glob as find,\n  mkdir,\n} from 'node:fs/promises';", ['glob']],
  ["import module from 'node:module';", []],
])('it is seen in %j', (text, expected) => {
  expect(
    importsOf(text).flatMap(({ from, names }) => names.filter((name) => NEWER[from]?.includes(name))),
  ).toEqual(expected);
});

/** Read by the type check and by an old Node: what the one allows, the other has to bring. */
test('every name that is declared for older releases of Node is brought to them', async () => {
  const declared = await readFile(join(PROJECT, 'build/older-node.d.ts'), 'utf8');
  const brought = await readFile(join(PROJECT, 'build/older-node.mjs'), 'utf8');
  const names = [...declared.matchAll(/^ {2}(\w+)<[^\n]*\(/gm)].map(([, name = '']) => name);
  expect(names).toHaveLength(6);
  for (const name of names) {
    const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(brought, name).toMatch(new RegExp(`/${file}\\.js';`));
  }
});
