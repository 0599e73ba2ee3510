/**
 * The commands by name. The module of a command is loaded only when that command runs. Most commands need
 * views, schemas and checks that others do not, and a command that only asks where a session stands should
 * load little.
 */
import type { Command } from 'commander';
import type { App } from './app.ts';
import { CliError } from './failure.ts';

/** Gives a command its options, its subcommands, and what it does. */
export type Define = (command: Command, app: App) => void;

export interface CommandRow {
  name: string;
  /** The line in the list of commands. */
  summary: string;
  load: () => Promise<Define>;
}

export const COMMAND_GROUPS: readonly { heading: string; commands: readonly CommandRow[] }[] = [
  {
    heading: 'Checkpoints of all repositories:',
    commands: [
      {
        name: 'session',
        summary: 'start, list and end sessions',
        load: async () => (await import('./commands/session.ts')).defineSession,
      },
      {
        name: 'checkpoint',
        summary: 'capture all repositories of a session',
        load: async () => (await import('./commands/checkpoint.ts')).defineCheckpoint,
      },
      {
        name: 'log',
        summary: 'show the timeline as a tree',
        load: async () => (await import('./commands/log.ts')).defineLog,
      },
      {
        name: 'diff',
        summary: 'compare two points of the timeline',
        load: async () => (await import('./commands/diff.ts')).defineDiff,
      },
      {
        name: 'changes',
        summary: 'show what a message or checkpoint changed',
        load: async () => (await import('./commands/changes.ts')).defineChanges,
      },
      {
        name: 'blame',
        summary: 'show which message wrote each line of a file',
        load: async () => (await import('./commands/blame.ts')).defineBlame,
      },
      {
        name: 'search',
        summary: 'find messages, tool calls and files by their words',
        load: async () => (await import('./commands/search.ts')).defineSearch,
      },
      {
        name: 'rollback',
        summary: 'put all repositories back to a message',
        load: async () => (await import('./commands/rollback.ts')).defineRollback,
      },
      {
        name: 'undo',
        summary: 'take back the last rollback',
        load: async () => (await import('./commands/undo.ts')).defineUndo,
      },
      {
        name: 'redo',
        summary: 'make the rollback again that was undone',
        load: async () => (await import('./commands/undo.ts')).defineRedo,
      },
      {
        name: 'revert',
        summary: 'take back one message, keep later ones',
        load: async () => (await import('./commands/revert.ts')).defineRevert,
      },
      {
        name: 'fork',
        summary: 'begin a session of its own at a checkpoint',
        load: async () => (await import('./commands/fork.ts')).defineFork,
      },
      {
        name: 'merge',
        summary: "bring a fork's work into its source",
        load: async () => (await import('./commands/merge.ts')).defineMerge,
      },
      {
        name: 'rehydrate',
        summary: 'rebuild a session in a fresh sandbox',
        load: async () => (await import('./commands/rehydrate.ts')).defineRehydrate,
      },
      {
        name: 'bisect',
        summary: 'find the message that broke something',
        load: async () => (await import('./commands/bisect.ts')).defineBisect,
      },
      {
        name: 'verify-commitments',
        summary: 'check in a fresh copy whether work is done',
        load: async () => (await import('./commands/verify-commitments.ts')).defineVerifyCommitments,
      },
      {
        name: 'preflight',
        summary: 'say what a sandbox lacks before anybody works in it',
        load: async () => (await import('./commands/preflight.ts')).definePreflight,
      },
      {
        name: 'copies',
        summary: 'list and delete review copies',
        load: async () => (await import('./commands/copies.ts')).defineCopies,
      },
      {
        name: 'context',
        summary: "print the agent's system-prompt text",
        load: async () => (await import('./commands/context.ts')).defineContext,
      },
    ],
  },
  {
    heading: 'Sagas, for what is done to other systems:',
    commands: [
      {
        name: 'saga',
        summary: 'start, watch, approve and repair sagas',
        load: async () => (await import('./commands/saga.ts')).defineSaga,
      },
      {
        name: 'tool',
        summary: 'call single tools of the catalog',
        load: async () => (await import('./commands/tool.ts')).defineTool,
      },
      {
        name: 'catalog',
        summary: 'tools and templates of sagas',
        load: async () => (await import('./commands/catalog.ts')).defineCatalog,
      },
      {
        name: 'locks',
        summary: 'locks of sagas on exclusive resources, and who waits for them',
        load: async () => (await import('./commands/locks.ts')).defineLocks,
      },
      {
        name: 'ledger',
        summary: 'read and verify the ledger of sagas',
        load: async () => (await import('./commands/ledger.ts')).defineLedger,
      },
    ],
  },
  {
    heading: 'People, so that approvals carry a proof:',
    commands: [
      {
        name: 'console',
        summary: 'pages to review, approve and look things up',
        load: async () => (await import('./commands/console.ts')).defineConsole,
      },
      {
        name: 'export',
        summary: 'one session as a page that opens without a server',
        load: async () => (await import('./commands/export.ts')).defineExport,
      },
      {
        name: 'login',
        summary: 'sign in at the issuer of tokens',
        load: async () => (await import('./commands/login.ts')).defineLogin,
      },
      {
        name: 'logout',
        summary: 'forget who is signed in',
        load: async () => (await import('./commands/login.ts')).defineLogout,
      },
      {
        name: 'whoami',
        summary: 'say who is signed in',
        load: async () => (await import('./commands/login.ts')).defineWhoami,
      },
    ],
  },
  {
    heading: 'Both:',
    commands: [
      {
        name: 'rewind',
        summary: 'take back effects, files and conversation since a message',
        load: async () => (await import('./commands/rewind.ts')).defineRewind,
      },
      {
        name: 'demo',
        summary: 'the main job told as a story, with proof',
        load: async () => (await import('./commands/demo.ts')).defineDemo,
      },
    ],
  },
  {
    heading: 'For agents:',
    commands: [
      {
        name: 'mcp',
        summary: 'serve MCP, or take a checkpoint before each tool of an MCP server',
        load: async () => (await import('./commands/mcp.ts')).defineMcp,
      },
    ],
  },
  {
    heading: 'The embedded cloud of this machine:',
    commands: [
      {
        name: 'up',
        summary: 'run the embedded cloud',
        load: async () => (await import('./commands/up.ts')).defineUp,
      },
      {
        name: 'down',
        summary: 'stop the embedded cloud',
        load: async () => (await import('./commands/down.ts')).defineDown,
      },
      {
        name: 'env',
        summary: 'print what an SDK needs to reach the embedded cloud',
        load: async () => (await import('./commands/env.ts')).defineEnv,
      },
      {
        name: 'clean',
        summary: 'delete what the embedded cloud keeps',
        load: async () => (await import('./commands/clean.ts')).defineClean,
      },
      {
        name: 'doctor',
        summary: 'check what the command needs, and say what to do',
        load: async () => (await import('./commands/doctor.ts')).defineDoctor,
      },
      {
        name: 'completion',
        summary: 'print what a shell needs to complete commands',
        load: async () => (await import('./commands/completion.ts')).defineCompletion,
      },
    ],
  },
];

const ROWS = COMMAND_GROUPS.flatMap(({ commands }) => commands);
const loaded = new WeakSet<Command>();

/** Gives a command its options and subcommands, once. */
export const loadCommand = async (program: Command, app: App, name: string): Promise<void> => {
  const command = program.commands.find((one) => one.name() === name);
  const row = ROWS.find((one) => one.name === name);
  if (command === undefined || row === undefined || loaded.has(command)) return;
  loaded.add(command);
  const define = await row.load();
  define(command, app);
};

/** Lists every command. Only the command that runs, or whose help is asked for, is loaded. */
export const addCommands = (program: Command, app: App): void => {
  for (const { heading, commands } of COMMAND_GROUPS) {
    for (const { name, summary } of commands) program.command(name).description(summary).helpGroup(heading);
  }
  // Commander's own help command would show the help of a command that is not loaded.
  program
    .helpCommand(false)
    .command('help')
    .argument('[command...]')
    .summary('show the help of a command')
    .helpGroup('Help:')
    .action(async (names: string[]) => {
      const [first] = names;
      if (first !== undefined && !program.commands.some((one) => one.name() === first)) {
        throw new CliError('InvalidInput', `unknown command '${first}'`, {
          hint: 'walkback --help lists them',
        });
      }
      await program.parseAsync([...names, '--help'], { from: 'user' });
    });
  program.hook('preSubcommand', (_program, command) => loadCommand(program, app, command.name()));
};
