/** The declarations of a package: what the compiler emits for its entries and everything they reach. */
import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../local/program.ts';
import { packageOf } from './manifest.ts';

const COMPILER = join(PROJECT, 'node_modules/typescript/bin/tsc');

/** `from './a.ts'` and `import('./a.ts')`. */
const SOURCE_SPECIFIER = /((?:from |import\()['"]\.{1,2}\/[^'"]+)\.ts(['"])/g;
const PACKAGE_SPECIFIER = /(?:from |import\()['"]([^.'"][^'"]*)['"]/g;

/** The compiler leaves the endings of sources in declarations; whoever reads them has no sources. */
export const builtSpecifiers = (declaration: string): string =>
  declaration.replaceAll(SOURCE_SPECIFIER, '$1.js$2');

/** Packages that a declaration names. */
export const packagesNamed = (declaration: string): string[] =>
  [...declaration.matchAll(PACKAGE_SPECIFIER)]
    .map(([, specifier = '']) => packageOf(specifier))
    .filter((name) => !name.startsWith('node:'));

const emit = async (entries: readonly string[], outDir: string): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'walkback-types-'));
  try {
    const config = join(directory, 'tsconfig.json');
    await writeFile(
      config,
      JSON.stringify({
        extends: join(PROJECT, 'tsconfig.json'),
        compilerOptions: {
          noEmit: false,
          emitDeclarationOnly: true,
          declaration: true,
          rootDir: PROJECT,
          outDir,
          typeRoots: [join(PROJECT, 'node_modules/@types')],
        },
        include: [],
        files: entries.map((entry) => join(PROJECT, entry)),
      }),
    );
    await promisify(execFile)(process.execPath, [COMPILER, '-p', config], { cwd: PROJECT });
  } catch (error) {
    const said = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    throw new Error(`the declarations do not compile:\n${said}`, { cause: error });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/** Writes them beside the modules, and answers the packages that they name. */
export const buildDeclarations = async (entries: readonly string[], outDir: string): Promise<string[]> => {
  await emit(entries, outDir);
  const named = new Set<string>();
  for await (const file of glob('**/*.d.ts', { cwd: outDir })) {
    const path = join(outDir, file);
    const text = builtSpecifiers(await readFile(path, 'utf8'));
    for (const name of packagesNamed(text)) named.add(name);
    await writeFile(path, text);
  }
  return [...named].sort();
};
