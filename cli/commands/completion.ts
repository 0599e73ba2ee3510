import { type Command, Option } from 'commander';
import type { App, GlobalOptions } from '../app.ts';
import { loadCommand } from '../commands.ts';
import { completionsOf, SHELL_SCRIPTS, wordsIn } from '../completion.ts';
import { CliError } from '../failure.ts';
import { helpText } from '../terminal/help-text.ts';

const EXAMPLES = `
Examples:
  source <(walkback completion bash)                     in ~/.bashrc
  source <(walkback completion zsh)                      in ~/.zshrc, after compinit
  walkback completion fish | source                      in ~/.config/fish/config.fish`;

type Shell = keyof typeof SHELL_SCRIPTS;

const isShell = (name: string): name is Shell => Object.hasOwn(SHELL_SCRIPTS, name);

export const defineCompletion = (completion: Command, app: App): void => {
  completion
    .description('Print what a shell needs to complete commands and options.')
    .argument('[shell]', 'bash, zsh or fish')
    .addOption(new Option('--words <lines>', 'what was typed').hideHelp())
    .addHelpText('after', helpText(EXAMPLES))
    .action(async (shell: string | undefined, { words }: { words?: string }, command: Command) => {
      const { stdout } = app.terminal;
      if (words !== undefined) {
        const program = completion.parent ?? completion;
        const load = (name: string) => loadCommand(program, app, name);
        const found = await completionsOf(program, wordsIn(words), load);
        stdout.write(found.map((one) => `${one}\n`).join(''));
        return;
      }
      if (shell === undefined || !isShell(shell)) {
        throw new CliError('InvalidInput', `Which shell? ${Object.keys(SHELL_SCRIPTS).join(', ')}.`);
      }
      const script = SHELL_SCRIPTS[shell];
      const { json } = command.optsWithGlobals<GlobalOptions>();
      stdout.write(json === true ? `${JSON.stringify({ shell, script }, null, 2)}\n` : script);
    });
};
