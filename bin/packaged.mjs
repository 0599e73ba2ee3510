#!/usr/bin/env node
// Starts the command of the package on the Node that the machine has. Nothing here may need a Node newer than 14: an import
// of what an old one does not have ends as a SyntaxError before the first line runs.
import { mkdirSync, statSync } from 'node:fs';
import * as modules from 'node:module';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

const MINIMUM = 20;
/** On macOS it calls deployed functions; the embedded cloud needs Linux. */
const PLATFORMS = ['linux', 'darwin'];
/** As contract/exit-codes.ts has it for what is to be set up. */
const EXIT_CONFIGURATION = 7;

/** An empty HOME is none: it would be whatever directory the command is called in. */
const home = () => {
  try {
    return homedir() || userInfo().homedir;
  } catch {
    return undefined;
  }
};

/** A directory of the user's own: what is in there is run. */
const cacheDirectory = () => {
  const asked = process.env.XDG_CACHE_HOME;
  if (asked && isAbsolute(asked)) return join(asked, 'walkback', 'compile');
  const directory = home();
  return directory && join(directory, '.cache', 'walkback', 'compile');
};

const isDirectory = (path) => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

/** Node's own cache never comes back where a directory is there and making another in it is answered ENOENT, as below /proc. */
const canMake = (path) => {
  if (isDirectory(path)) return true;
  const above = dirname(path);
  // A relative path ends at the current directory, which need not be there.
  if (above === path || !canMake(above)) return false;
  try {
    mkdirSync(path);
  } catch {
    // Another command may have made it meanwhile.
  }
  return isDirectory(path);
};

const start = async () => {
  // On an old Node the SDK says at each command that it will leave it; which SDK is in here is not the user's choice.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  // Node 20 has none. Halves the time a command takes to start.
  const cache = process.env.NODE_COMPILE_CACHE || cacheDirectory();
  if (modules.enableCompileCache !== undefined && cache && canMake(cache)) modules.enableCompileCache(cache);
  if (Promise.try === undefined || globalThis.AsyncDisposableStack === undefined)
    await import('../lib/older-node.mjs');
  await import('../lib/main.mjs');
};

if (!PLATFORMS.includes(process.platform)) {
  process.stderr.write(`walkback runs on Linux and macOS; this is ${process.platform} on ${process.arch}.\n`);
  process.exitCode = EXIT_CONFIGURATION;
} else if (Number(process.versions.node.split('.')[0]) >= MINIMUM) {
  void start();
} else {
  process.stderr.write(`walkback needs Node ${MINIMUM} or newer; this is ${process.version}.\n`);
  process.exitCode = EXIT_CONFIGURATION;
}
