import type { Command } from 'commander';
import { dataDirFor } from '../../client/target.ts';
import type { App, GlobalOptions } from '../app.ts';
import { checkFunctions } from '../doctor/functions.ts';
import { checkMachine } from '../doctor/machine.ts';
import { CliError } from '../failure.ts';
import { selectTarget } from '../target/select.ts';
import { helpText } from '../terminal/help-text.ts';
import { createProgress } from '../terminal/progress.ts';
import { paintFor } from '../terminal/terminal.ts';
import { checksText } from '../view/checks-view.ts';

export const defineDoctor = (doctor: Command, app: App): void => {
  doctor
    .description(
      'Check what the command needs: Node, git, bash and curl, the data directory, disk, ports, the ' +
        'embedded cloud in the background, and whether the functions answer. It starts and changes nothing.',
    )
    .addHelpText(
      'after',
      helpText(
        '\nExit code 7 when a check fails. With --json: { "ok", "checks": [{ id, ok, found, advice }] }.',
      ),
    )
    .action(async (_options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<GlobalOptions>();
      const { terminal, signal } = app;
      const { env, cwd } = terminal;
      const target = selectTarget(flags, env, cwd);
      const dataDir = target.kind === 'local' ? target.dataDir : dataDirFor(flags.data, env, cwd);
      const json = flags.json === true;
      const progress = createProgress(terminal, { quiet: json, signal });
      const checks = await progress('Looking', async () => [
        ...(await checkMachine(dataDir, env)),
        ...(await checkFunctions(target, dataDir, { env, cwd, signal })),
      ]);
      const bad = checks.filter(({ ok }) => !ok).map(({ id }) => id);
      const value = { ok: bad.length === 0, checks };
      terminal.stdout.write(
        json ? `${JSON.stringify(value, null, 2)}\n` : checksText(checks, paintFor(terminal)),
      );
      if (bad.length > 0) {
        const what = `${bad.length} of ${checks.length} checks failed: ${bad.join(', ')}.`;
        throw new CliError('ConfigurationError', what, { hint: 'do what stands beside each of them' });
      }
    });
};
