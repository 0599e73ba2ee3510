import { type Command, Option } from 'commander';
import { EXIT_CODES } from '../contract/exit-codes.ts';
import manifest from '../package.json' with { type: 'json' };
import type { App } from './app.ts';
import { addCommands } from './commands.ts';
import { parseDirectory } from './options.ts';
import { helpText } from './terminal/help-text.ts';
import { pageWidthOf, paintFor } from './terminal/terminal.ts';
import { ToldCommand } from './told-command.ts';

const exitCodeHelp = (): string =>
  Object.values(EXIT_CODES)
    .map(({ code, meaning }) => `  ${String(code).padStart(3)}  ${meaning}`)
    .join('\n');

const GENERAL_HELP = `
Where the functions run:
  By default in the embedded cloud on this machine: the one that runs over the
  data directory, else one that starts in the background and ends by itself when
  nobody uses it (WALKBACK_DAEMON=off: one that ends with the command). With the usual AWS
  environment set (AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_REGION ...), the deployed
  functions. --local and --aws force it.

Which session:
  --session, else WALKBACK_SESSION, else (embedded cloud) that of the conversation
  in whose shell the command runs (Claude Code), else the newest session whose
  root holds the current directory.

Exit codes:
${exitCodeHelp()}

Try it:
  walkback demo                                the whole story in under a minute
  walkback session start --root ~/work         a session over your own repositories
  walkback checkpoint --message msg-1
  walkback log`;

const MOST_HELP_WIDTH = 110;

/** The whole command line. Errors are thrown (`CommanderError`, `CliError`), never printed here. */
export const createProgram = (app: App): Command => {
  const paint = paintFor(app.terminal);
  const program = new ToldCommand('walkback')
    .description(
      'The undo layer for AI agents: checkpoints of all repositories, and sagas for what is done to other systems.',
    )
    .version(manifest.version)
    .option('--json', 'machine-readable answer on stdout, errors as JSON on stderr')
    .addOption(new Option('--local', 'use the embedded cloud').conflicts('aws'))
    .option('--aws', 'use the deployed functions')
    .option('--data <dir>', "the embedded cloud's data directory (WALKBACK_DATA)", parseDirectory)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void app.terminal.stdout.write(text),
      // The help of a group without a named command. A program gets only the error.
      writeErr: (text) => void (program.opts()['json'] === true || app.terminal.stderr.write(text)),
      // main.ts prints the message, once.
      outputError: () => undefined,
      getOutHelpWidth: () => pageWidthOf(app.terminal, MOST_HELP_WIDTH),
      getOutHasColors: () => paint.enabled,
    })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => paint.bold(text),
      styleCommandText: (text) => paint.cyan(text),
    })
    .addHelpText('after', helpText(GENERAL_HELP));
  addCommands(program, app);
  return program;
};
