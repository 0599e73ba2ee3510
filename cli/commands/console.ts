import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Option } from 'commander';
import { type Answer, type App, type Run, withConnection } from '../app.ts';
import type { Define } from '../commands.ts';
import { describeFailure, isInterruption } from '../failure.ts';
import { directoryOf } from '../fresh-sandbox.ts';
import { parseWholeNumber } from '../options.ts';
import { operatorOf } from '../saga-operator.ts';
import { helpText } from '../terminal/help-text.ts';

const EXAMPLES = `
Examples:
  walkback console                             prints a link; open it in a browser
  walkback console --port 4500
  walkback login --as rita@example.com && walkback console

The pages show sessions with their messages and plans, what waits for a person, sagas,
the ledger and the catalog. The link works once and only on this machine. What you
approve carries the proof of who is signed in (walkback login), else the name of --by.`;

interface Options {
  port?: number;
  by?: string;
}

const serve = async ({ signal }: App, run: Run, options: Options): Promise<Answer> => {
  const { createConsole } = await import('../../console/app.ts');
  const { listenPages } = await import('../../local/listen.ts');
  const token = randomBytes(32).toString('base64url');
  const name = operatorOf(run, options.by);
  let origin = '';
  const pages = createConsole({
    ask: (called, input) => run.invoke(`walkback-${called}`, input),
    failureOf: describeFailure,
    // A copy's page works even when its place is not known.
    directoryOf: (sandboxId, path) => directoryOf(run, sandboxId, path).catch(() => undefined),
    viewer: { name, isVerified: run.person !== undefined },
    by: name,
    token,
    origin: () => origin,
  });
  const endpoint = await listenPages(pages, options.port);
  origin = endpoint.url;
  const url = `${origin}/enter?token=${token}`;
  run.terminal.stdout.write(
    run.json
      ? `${JSON.stringify({ url })}\n`
      : `Open ${url}\nThe link works once. Ctrl-C ends the console.\n`,
  );
  try {
    if (!signal.aborted) await once(signal, 'abort');
    // An interrupt is the expected end. Any other reason is an error of the program.
    if (!isInterruption(signal.reason)) throw signal.reason;
  } finally {
    await endpoint.close();
  }
  return { value: { url, ended: true }, text: () => 'The console ended.\n' };
};

export const defineConsole: Define = (command, app) => {
  command
    .description('Serve the console on this machine, until it is interrupted.')
    .addOption(
      new Option('--port <port>', 'where to listen (default: any free port)').argParser(
        parseWholeNumber(0, 65_535),
      ),
    )
    .option('--by <who>', 'who acts, when nobody is signed in (default: you)')
    .addHelpText('after', helpText(EXAMPLES))
    .action((options: Options, own) =>
      withConnection(app, own, (run) => serve(app, run, options), { serves: true }),
    );
};
