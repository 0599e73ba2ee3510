/** How a function is bundled. */
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { operationTables } from './operation-tables.ts';

export const PROJECT = join(import.meta.dirname, '..');

/** Gives bundled CommonJS dependencies the `require` that an ES module does not have. */
const REQUIRE_BANNER =
  "import { createRequire as walkbackRequire } from 'node:module'; const require = walkbackRequire(import.meta.url);";

/** Packages that a bundle omits, each for the reason in its stand-in. */
const STUBBED = ['chalk', 'dockerfile-ast', 'platform', 'semver'];

export const BUNDLE_OPTIONS: BuildOptions = {
  absWorkingDir: PROJECT,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // As ES modules, of which only the used parts are included. The CommonJS form of e2b does not bundle at
  // all.
  mainFields: ['module', 'main'],
  // A third of the libraries is comments and blanks. Names stay, for stack traces and for the literal names
  // of errors, and lines stay short enough for a stack trace.
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 160,
  alias: Object.fromEntries(STUBBED.map((name) => [name, join(PROJECT, `cdk/stubs/${name}.ts`)])),
  banner: { js: REQUIRE_BANNER },
  // What `import()` names becomes a file of its own, which is not even read before it is needed.
  splitting: true,
  // All in one directory, because the code finds the sandbox's program and the process for expressions beside itself.
  chunkNames: '[name]-[hash]',
  outExtension: { '.js': '.mjs' },
  plugins: [operationTables],
  metafile: true,
  logLevel: 'warning',
};
