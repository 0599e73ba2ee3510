/** Every command with what it takes, as the commands themselves tell it in their help. */
import { PassThrough } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import type { App } from '../../cli/app.ts';
import { COMMAND_GROUPS, loadCommand } from '../../cli/commands.ts';
import { createProgram } from '../../cli/program.ts';
import { code, table } from './markdown.ts';

const nowhere = { write: () => true };

/** Commands are only asked what they take. */
const app: App = {
  terminal: {
    env: {},
    cwd: '/',
    stdin: new PassThrough(),
    stdout: nowhere,
    stderr: nowhere,
    now: () => new Date(0),
  },
  signal: new AbortController().signal,
  page: async () => undefined,
  connect: () => Promise.reject(new Error('The docs run no command.')),
};

const loadAll = async (): Promise<Command> => {
  const program = createProgram(app);
  for (const { commands } of COMMAND_GROUPS)
    for (const { name } of commands) await loadCommand(program, app, name);
  return program;
};

interface CommandInput {
  /** Without the name of the program; empty for what all of them take. */
  command: string;
  takes: string;
  meaning: string;
}

const shown = ({
  required,
  variadic,
  name,
}: {
  required: boolean;
  variadic: boolean;
  name: string;
}): string => {
  const all = variadic ? `${name}...` : name;
  return required ? `<${all}>` : `[${all}]`;
};

const takenBy = (command: Command, path: string): CommandInput[] => {
  const help = command.createHelp();
  const ofArgument = (argument: Argument): CommandInput => ({
    command: path,
    takes: shown({ required: argument.required, variadic: argument.variadic, name: argument.name() }),
    meaning: help.argumentDescription(argument),
  });
  const ofOption = (option: Option): CommandInput => ({
    command: path,
    takes: help.optionTerm(option),
    meaning: help.optionDescription(option),
  });
  return [
    ...command.registeredArguments.map(ofArgument),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map(ofOption),
    ...help
      .visibleCommands(command)
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => takenBy(one, `${path} ${one.name()}`.trim())),
  ];
};

/** Loaded once: what they take does not change. */
const taken = takenBy(await loadAll(), '');

export const commandOptions = (): string =>
  table(
    ['command', 'takes', 'meaning'],
    taken.map(({ command, takes, meaning }) => [
      command === '' ? 'all of them' : code(command),
      code(takes),
      meaning,
    ]),
  );
