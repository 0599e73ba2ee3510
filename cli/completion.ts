/**
 * Finds out what can come next on a command line, from the commands themselves. Pure, except that it loads
 * the command that was typed.
 */
import type { Command, Option } from 'commander';

/** Loads a command of the program. Before that, its options and subcommands are unknown. */
export type Load = (name: string) => Promise<void>;

const takesValue = (option: Option | undefined): boolean =>
  option?.required === true || option?.optional === true;

const optionsOf = (command: Command): readonly Option[] => [
  ...command.createHelp().visibleOptions(command),
  ...command.createHelp().visibleGlobalOptions(command),
];

const findOption = (command: Command, word: string): Option | undefined =>
  optionsOf(command).find(({ long, short }) => word === long || word === short);

const flagsOf = (command: Command): string[] =>
  optionsOf(command).flatMap(({ long, short }) => long ?? short ?? []);

/** `words`: all words after the program's name. The last one is being typed, and may be empty. */
export const completionsOf = async (
  program: Command,
  words: readonly string[],
  load: Load,
): Promise<string[]> => {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  let command = program;
  let expecting: Option | undefined;
  for (const word of typed) {
    if (expecting !== undefined) {
      expecting = undefined;
      continue;
    }
    const option = word.startsWith('-') ? findOption(command, word) : undefined;
    if (takesValue(option)) expecting = option;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) continue;
    if (command === program) await load(word);
    command = next;
  }
  const found =
    expecting !== undefined
      ? (expecting.argChoices ?? [])
      : current.startsWith('-')
        ? flagsOf(command)
        : command
            .createHelp()
            .visibleCommands(command)
            .map((one) => one.name());
  return found.filter((one) => one.startsWith(current)).toSorted((a, b) => a.localeCompare(b));
};

/** Each word is on a line that begins with a colon, so that an empty word is not lost. */
export const wordsIn = (lines: string): string[] =>
  lines.split('\n').flatMap((line) => (line.startsWith(':') ? [line.slice(1)] : []));

const ASK = 'walkback completion --words';

/** What a shell reads when it starts. Where nothing is found, the shell completes file names. */
export const SHELL_SCRIPTS = {
  bash: `_walkback() {
  local IFS=$'\\n'
  COMPREPLY=($(${ASK} "$(printf ':%s\\n' "\${COMP_WORDS[@]:1:COMP_CWORD}")" 2>/dev/null))
}
complete -o default -F _walkback walkback
`,
  zsh: `#compdef walkback
_walkback() {
  local -a found
  found=("\${(@f)$(${ASK} "$(printf ':%s\\n' "\${(@)words[2,CURRENT]}")" 2>/dev/null)}")
  if [[ -n \${found[1]} ]]; then compadd -a found; else _files; fi
}
compdef _walkback walkback
`,
  fish: `function __walkback_complete
  set -l found (${ASK} (printf ':%s\\n' (commandline -opc)[2..-1] (commandline -ct) | string collect) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c walkback -f -a '(__walkback_complete)'
`,
} as const;
