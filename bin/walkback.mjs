#!/usr/bin/env node
// Starts the CLI on the Node 24 that comes with the package, whatever Node the machine has.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);
const main = fileURLToPath(new URL('cli/main.ts', root));
const bundled = fileURLToPath(new URL('node_modules/node/bin/node', root));
// Beside the packages, where only who may change the program may write. Halves the time a command takes to start.
const cache = fileURLToPath(new URL('node_modules/.cache/compile', root));
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const modern = major > 24 || (major === 24 && minor >= 0);

if (modern) {
  enableCompileCache(cache);
  await import(main);
} else if (existsSync(bundled)) {
  const child = spawn(bundled, [main, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
} else {
  process.stderr.write(
    `walkback needs Node 24 or newer; this is ${process.version}. Run npm ci first: it brings Node 24.\n`,
  );
  process.exitCode = 69;
}
