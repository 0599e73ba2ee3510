import { once } from 'node:events';
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
    .addHelpText('after', EXAMPLES)
    .action(async (options: { port?: number }, command: Command) => {
      const { json, aws, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal, signal } = app;
      if (aws === true)
        throw new CliError('InvalidInput', 'walkback up runs the embedded cloud; --aws makes no sense.');
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const progress = createProgress(terminal, { quiet: json === true, signal });
      const cloud = await progress('Starting the embedded cloud', async () => {
        // Loaded only when it is needed: every other command would pay for it too.
        const { startCloud } = await import('../../local/cloud.ts');
        return startCloud({ dataDir, ...(options.port === undefined ? {} : { port: options.port }) });
      });
      try {
        const facts = { dataDir, endpoints: cloud.endpoints, environment: cloud.environment };
        terminal.stdout.write(
          json === true
            ? `${JSON.stringify({ ...facts, pid: process.pid })}\n`
            : cloudIsUp(facts, paintFor(terminal)),
        );
        if (!signal.aborted) await once(signal, 'abort');
        if (!isInterruption(signal.reason)) throw signal.reason;
      } finally {
        await cloud.close();
      }
      if (json !== true) terminal.stderr.write('The embedded cloud stopped; its data stays.\n');
    });
};
