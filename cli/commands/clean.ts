import type { Command } from 'commander';
import { dataDirFor } from '../../client/target.ts';
import type { DirectoryPlan } from '../../local/clean-directories.ts';
import { formatBytes, printableLine } from '../../present/text.ts';
import type { App, GlobalOptions } from '../app.ts';
import { CliError } from '../failure.ts';
import { confirm } from '../terminal/confirm.ts';
import { helpText } from '../terminal/help-text.ts';
import { paintFor } from '../terminal/terminal.ts';
import { directoryLines } from '../view/clean-view.ts';

interface Options {
  yes?: boolean;
  keepShadows?: boolean;
  dryRun?: boolean;
}

const EXAMPLES = `
Examples:
  walkback clean --dry-run                     what would be deleted
  walkback down && walkback clean              asks first

Sessions, checkpoints, sagas and the ledger of the embedded cloud are gone afterwards, with its
sandboxes and keys. Your repositories stay. What its sessions left in .agent-shadow of your directories
is removed too. What may hold files of yours, or belongs to a session of another cloud, stays and is named.`;

/** Once its sessions are deleted, nobody knows what can go there. */
const requireCleanable = (plans: readonly DirectoryPlan[]): void => {
  for (const plan of plans) {
    if (!('problem' in plan) || plan.isGone) continue;
    const { directory, problem } = plan;
    throw new CliError(
      'ConfigurationError',
      `.agent-shadow in ${printableLine(directory)} cannot be cleaned: ${printableLine(problem)}`,
      { hint: 'Nothing was deleted. Call again, or leave your directories as they are with --keep-shadows' },
    );
  }
};

export const defineClean = (clean: Command, app: App): void => {
  clean
    .description(
      'Delete everything that the embedded cloud keeps in its data directory. Shows it first, and asks.',
    )
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'say what would be deleted, and delete nothing')
    .option('--keep-shadows', 'leave .agent-shadow in your directories as it is')
    .addHelpText('after', helpText(EXAMPLES))
    .action(async ({ yes, dryRun, keepShadows }: Options, command: Command) => {
      const { json, data } = command.optsWithGlobals<GlobalOptions>();
      const { terminal } = app;
      const dataDir = dataDirFor(data, terminal.env, terminal.cwd);
      const { deleteKept, listKept, listKeptSandboxes, listMounted } = await import('../../local/clean.ts');
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
      const mounted = kept.length === 0 ? [] : await listMounted(dataDir);
      const asTheyAre = mounted.map(({ directory }) => ({
        directory,
        problem: 'as you asked',
        isGone: false,
      }));
      // Loaded only when needed: with it comes the database.
      const directories =
        mounted.length === 0 || keepShadows === true
          ? undefined
          : await import('../../local/clean-directories.ts');
      const plans = (await directories?.planDirectories(dataDir, mounted, running)) ?? asTheyAre;
      if (dryRun !== true && keepShadows !== true) requireCleanable(plans);
      const paint = paintFor(terminal);
      const list = (there: readonly DirectoryPlan[], isPlan: boolean): string =>
        [
          ...kept.map(({ name, bytes }) => `  ${name}  ${formatBytes(bytes)}`),
          ...sandboxes.map(
            ({ sandboxId, sessionId }) =>
              `  sandbox ${sandboxId}, made from a checkpoint of session ${printableLine(sessionId)}`,
          ),
          ...directoryLines(there, { paint, isPlan }),
        ].join('\n');
      const isAsking = kept.length > 0 && dryRun !== true && yes !== true;
      if (isAsking) {
        if (json === true)
          throw new CliError('InvalidInput', 'With --json nobody is asked: pass --yes or --dry-run.');
        terminal.stderr.write(`In ${dataDir}:\n${list(plans, true)}\n`);
        if (!(await confirm(terminal, `Delete all of it?`))) {
          throw new CliError('NotConfirmed', 'Nothing was deleted.');
        }
      }
      const deleted = kept.length > 0 && dryRun !== true;
      const done = deleted
        ? await deleteKept(
            dataDir,
            async () => (await directories?.cleanDirectories(dataDir, mounted)) ?? asTheyAre,
          )
        : plans;
      const text = deleted
        ? `Deleted from ${dataDir}:\n${list(done, false)}`
        : `Would be deleted from ${dataDir}:\n${list(done, true)}${inUse === undefined ? '' : `\n${inUse} walkback down ends it; nothing is deleted before.`}`;
      terminal.stdout.write(
        json === true
          ? `${JSON.stringify({ dataDir, entries: kept, sandboxes, directories: done, deleted }, null, 2)}\n`
          : `${kept.length === 0 ? `Nothing of an embedded cloud is in ${dataDir}.` : text}\n`,
      );
    });
};
