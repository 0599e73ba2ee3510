import { once } from 'node:events';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import type { Command } from 'commander';
import type { App, GlobalOptions } from '../app.ts';
import { CliError, isInterruption } from '../failure.ts';
import { parseWholeNumber } from '../options.ts';
import { dataDirFor } from '../target/select.ts';
import { createProgress } from '../terminal/progress.ts';
import { paintFor } from '../terminal/terminal.ts';
import { cloudIsUp } from '../view/up-view.ts';

const EXAMPLES = `
Examples:
  walkback up
  walkback up --port 4400 --data ./.walkback
  walkback up --functions ./tools

While it runs, every other walkback command on the same data directory uses it.`;

export const addUp = (program: Command, app: App): void => {
  program
    .command('up')
    .summary('run the embedded cloud')
    .description(
      'Run the embedded cloud in the foreground: loopback endpoints that speak the AWS and E2B protocols, over ' +
        'one data directory that persists. Prints every endpoint and the environment to export; stop it with ' +
        'Ctrl-C.',
    )
    .option(
      '--port <n>',
      'first port; the endpoints take this and the following ones',
      parseWholeNumber(1, 65_000),
    )
    .option(
      '--functions <path>',
      'also serve the functions of a directory (modules that export `handler`) or of one module; may be repeated',
      (path: string, paths: string[]) => [...paths, path],
      [],
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: { port?: number; functions: string[] }, command: Command) => {
      const { json, aws, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal, signal } = app;
      if (aws === true)
        throw new CliError('InvalidInput', 'walkback up runs the embedded cloud; --aws makes no sense.');
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const progress = createProgress(terminal, { quiet: json === true, signal });
      const cloud = await progress('Starting the embedded cloud', async () => {
        // Loaded only when it is needed: every other command would pay for it too.
        const { startCloud } = await import('../../local/cloud.ts');
        const functions = options.functions.map((path) => resolve(terminal.cwd, path));
        return startCloud({ dataDir, functions, ...(options.port !== undefined && { port: options.port }) });
      });
      // Deployed it ends one instance of one function; here it would end the cloud.
      const tellStray = (error: unknown): void => {
        terminal.stderr.write(
          `A function left a promise that failed and that nobody awaits: ${inspect(error)}\n`,
        );
      };
      process.on('unhandledRejection', tellStray);
      try {
        const { endpoints, environment, ownFunctions: functions } = cloud;
        const facts = { dataDir, endpoints, environment, functions };
        terminal.stdout.write(
          json === true
            ? `${JSON.stringify({ ...facts, pid: process.pid })}\n`
            : cloudIsUp(facts, paintFor(terminal)),
        );
        if (!signal.aborted) await once(signal, 'abort');
        if (!isInterruption(signal.reason)) throw signal.reason;
      } finally {
        process.off('unhandledRejection', tellStray);
        await cloud.close();
      }
      if (json !== true) terminal.stderr.write('The embedded cloud stopped; its data stays.\n');
    });
};
