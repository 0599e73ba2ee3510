import type { Command } from 'commander';
import { dataDirFor } from '../../client/target.ts';
import type { App, GlobalOptions } from '../app.ts';
import { helpText } from '../terminal/help-text.ts';
import { createProgress } from '../terminal/progress.ts';
import { exportLines } from '../view/up-view.ts';

const EXAMPLES = `
Examples:
  eval "$(walkback env)"                       any AWS or E2B SDK in this shell uses it
  walkback env --json                          the same as JSON

The keys open the embedded cloud of this machine and nothing else.`;

export const defineEnv = (env: Command, app: App): void => {
  env
    .description(
      'Print endpoints, keys and names of the embedded cloud as lines for a shell, starting it in the background ' +
        'when it does not run.',
    )
    .addHelpText('after', helpText(EXAMPLES))
    .action(async (_options: unknown, command: Command) => {
      const { json, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal, signal } = app;
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const { ensureDaemon, idleMinutesOf } = await import('../target/daemon.ts');
      const progress = createProgress(terminal, { quiet: json === true, signal });
      const idleMinutes = idleMinutesOf(terminal.env);
      const { daemon, isNew } = await progress('Starting the embedded cloud', () =>
        ensureDaemon(dataDir, { idleMinutes, signal }),
      );
      const { howItServes } = await import('../target/own-sources.ts');
      const told = isNew && json !== true ? await howItServes(dataDir) : undefined;
      if (told !== undefined) terminal.stderr.write(`${told}\n`);
      terminal.stdout.write(
        json === true
          ? `${JSON.stringify(daemon.environment, null, 2)}\n`
          : `${exportLines(daemon.environment).join('\n')}\n`,
      );
    });
};
