import type { Command } from 'commander';
import { formatBytes, printableLine } from '../../present/text.ts';
import type { App, GlobalOptions } from '../app.ts';
import { CliError } from '../failure.ts';
import { dataDirFor } from '../target/select.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';

interface Options {
  yes?: boolean;
  dryRun?: boolean;
}

const EXAMPLES = `
Examples:
  walkback clean --dry-run                     what would be deleted
  walkback down && walkback clean              asks first

Sessions, checkpoints, sagas and the ledger of the embedded cloud are gone afterwards, with its
sandboxes and keys. Your repositories stay, with what is in .agent-shadow.`;

export const defineClean = (clean: Command, app: App): void => {
  clean
    .description(
      'Delete everything that the embedded cloud keeps in its data directory. Shows it first, and asks.',
    )
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .addHelpText('after', helpText(EXAMPLES))
    .action(async ({ yes, dryRun }: Options, command: Command) => {
      const { json, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal } = app;
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const { deleteKept, listKept, listKeptSandboxes } = await import('../../local/clean.ts');
      const { findRunningCloud } = await import('../../local/data-dir.ts');
      const running = await findRunningCloud(dataDir);
      const inUse = running && `Process ${running.pid} runs a cloud in ${dataDir}.`;
      if (inUse !== undefined && dryRun !== true) {
        throw new CliError('DataDirInUse', `${inUse} Nothing was deleted.`, {
          hint: 'walkback down ends it',
        });
      }
      const kept = await listKept(dataDir);
      const sandboxes = await listKeptSandboxes(dataDir);
      const list = [
        ...kept.map(({ name, bytes }) => `  ${name}  ${formatBytes(bytes)}`),
        ...sandboxes.map(
          ({ sandboxId, sessionId }) =>
            `  sandbox ${sandboxId}, made from a checkpoint of session ${printableLine(sessionId)}`,
        ),
      ].join('\n');
      const isAsking = kept.length > 0 && dryRun !== true && yes !== true;
      if (isAsking) {
        if (json === true)
          throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
        terminal.stderr.write(`In ${dataDir}:\n${list}\n`);
        if (!(await confirm(terminal, `Delete all of it?`))) {
          throw new CliError('NotConfirmed', 'Nothing was deleted.');
        }
      }
      const deleted = kept.length > 0 && dryRun !== true;
      if (deleted) await deleteKept(dataDir);
      const told = deleted
        ? `Deleted from ${dataDir}:\n${list}`
        : `Would be deleted from ${dataDir}:\n${list}${inUse === undefined ? '' : `\n${inUse} walkback down ends it; nothing is deleted before.`}`;
      terminal.stdout.write(
        json === true
          ? `${JSON.stringify({ dataDir, entries: kept, sandboxes, deleted }, null, 2)}\n`
          : `${kept.length === 0 ? `Nothing of an embedded cloud is in ${dataDir}.` : told}\n`,
      );
    });
};
