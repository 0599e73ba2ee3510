#!/usr/bin/env node
// Starts the command on Node 24, which comes with the package, whatever Node the machine has. So nothing here may need
// a Node newer than 14: an import of what an old one does not have ends as a SyntaxError before the first line runs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What the program itself needs; `engines` in package.json says what this file and npm need. */
const MINIMUM = 24;
/** On macOS it calls deployed functions; the embedded cloud needs Linux. */
const PLATFORMS = ['linux', 'darwin'];
/** As contract/exit-codes.ts has it for what is to be set up. */
const EXIT_CONFIGURATION = 7;

const root = new URL('..', import.meta.url);
const main = new URL('cli/main.ts', root);
// Beside the packages, where only who may change the program may write. Halves the time a command takes to start.
const cache = fileURLToPath(new URL('node_modules/.cache/compile', root));

/** The Node of the package `node`, wherever npm has put it; undefined when it is not installed. */
const findBundled = () => {
  try {
    const path = modules.createRequire(import.meta.url).resolve('node/bin/node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
};

const startOn = (node) => {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(
      `walkback could not start ${node} (${error.message}). Run npm ci again: it brings Node ${MINIMUM}.\n`,
    );
    process.exit(EXIT_CONFIGURATION);
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
};

const bundled = findBundled();
if (!PLATFORMS.includes(process.platform)) {
  process.stderr.write(`walkback runs on Linux and macOS; this is ${process.platform} on ${process.arch}.\n`);
  process.exitCode = EXIT_CONFIGURATION;
} else if (Number(process.versions.node.split('.')[0]) >= MINIMUM) {
  modules.enableCompileCache(cache);
  void import(main.href);
} else if (bundled !== undefined) {
  startOn(bundled);
} else {
  process.stderr.write(
    `walkback needs Node ${MINIMUM} or newer; this is ${process.version}. Run npm ci first: it brings Node ${MINIMUM}.\n`,
  );
  process.exitCode = EXIT_CONFIGURATION;
}
