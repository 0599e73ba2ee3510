import type { Command } from 'commander';
import { dataDirFor } from '../../client/target.ts';
import type { App, GlobalOptions } from '../app.ts';
import { createProgress } from '../terminal/progress.ts';

export const defineDown = (down: Command, app: App): void => {
  down
    .description(
      'Stop the embedded cloud of the data directory, wherever it was started. Its data stays; sagas that were ' +
        'under way go on when it is started again.',
    )
    .action(async (_options: unknown, command: Command) => {
      const { json, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal, signal } = app;
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const { stopDaemon } = await import('../target/daemon.ts');
      const progress = createProgress(terminal, { quiet: json === true, signal });
      const pid = await progress('Stopping the embedded cloud', () => stopDaemon(dataDir, signal));
      const text = pid === undefined ? 'No embedded cloud runs' : 'The embedded cloud stopped';
      terminal.stdout.write(
        json === true ? `${JSON.stringify({ dataDir, pid: pid ?? null })}\n` : `${text} in ${dataDir}.\n`,
      );
    });
};
