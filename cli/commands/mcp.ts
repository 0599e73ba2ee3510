import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { freshId } from '../../client/ids.ts';
import type { OnCheckpointError } from '../../client/index.ts';
import { eachLine } from '../../local/each-line.ts';
import type { App, GlobalOptions } from '../app.ts';
import { CliError } from '../failure.ts';
import { endOf, stopServer } from '../mcp/behind.ts';
import type { McpPlace } from '../mcp/sessions.ts';
import { collectTexts, parseDirectory, parseId } from '../options.ts';
import { helpText } from '../terminal/help-text.ts';

const EXAMPLES = `
Examples:
  walkback mcp                                 tools: checkpoint, list, diff, plan, rollback, undo, redo
  walkback mcp -- npx -y some-mcp-server DIR   that server's own tools, each after a checkpoint
  walkback mcp --reads read_file --reads list_directory -- \\
      npx -y some-mcp-server DIR

An MCP server sees only its own tools. By itself walkback mcp captures when it is asked to. In front of another
server it captures before every tool of that server but those named by --reads, and a tool without a
checkpoint does not run. After a rollback those tools are refused until the client connects again.`;

interface Options extends McpPlace {
  reads: string[];
  onCheckpointError: OnCheckpointError;
}

const ended = async (stream: Readable, signal: AbortSignal): Promise<void> => {
  if (stream.readableEnded || signal.aborted) return;
  await Promise.race([once(stream, 'end'), once(signal, 'abort')]);
};

/** Serves our own tools until the client closes its end. */
const serve = async (app: App, flags: GlobalOptions, options: Options): Promise<void> => {
  const [{ createMcpServer }, { createSessionOpener }, { serveStdio }] = await Promise.all([
    import('../mcp/server.ts'),
    import('../mcp/sessions.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  const sessions = createSessionOpener(app, flags, options);
  const handle = serveStdio(() => createMcpServer(sessions.open));
  await ended(process.stdin, app.signal);
  await handle.close();
  await sessions.close();
};

/** Runs another server behind us until one of the two ends. */
const wrap = async (
  app: App,
  flags: GlobalOptions,
  options: Options,
  words: readonly string[],
): Promise<void> => {
  const [{ createGuard }, { createProxy }, { createSessionOpener }] = await Promise.all([
    import('../mcp/guard.ts'),
    import('../mcp/proxy.ts'),
    import('../mcp/sessions.ts'),
  ]);
  const { terminal, signal } = app;
  const sessions = createSessionOpener(app, flags, options);
  const connectionId = freshId('mcp');
  const guard = createGuard({
    openSession: sessions.open,
    messageId: connectionId,
    onCheckpointError: options.onCheckpointError,
    tell: (text) => void terminal.stderr.write(`walkback: ${text}\n`),
  });
  const [file = '', ...args] = words;
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const failed = new Promise<never>((_resolve, reject) => {
    child.on('error', (cause) =>
      reject(new CliError('InvalidInput', `${file} did not start: ${cause.message}`, { cause })),
    );
  });
  failed.catch(() => undefined);
  child.stdin.on('error', () => undefined);
  const take = createProxy({
    guard,
    connectionId,
    reads: new Set(options.reads),
    toServer: (line) => void child.stdin.write(`${line}\n`),
    toClient: (line) => void terminal.stdout.write(`${line}\n`),
  });
  eachLine(child.stdout, (line) => void terminal.stdout.write(`${line}\n`));
  eachLine(process.stdin, take);
  const over = endOf(child);
  try {
    const end = await Promise.race([ended(process.stdin, signal), over, failed]);
    if (end === undefined) return;
    const { how, exitCode } = end;
    if (exitCode !== 0) {
      throw new CliError('ToolUnavailable', `${file} ended with ${how}.`, {
        exitCode,
        hint: 'what it said before that is above',
      });
    }
    terminal.stderr.write(`walkback: ${file} ended with ${how}.\n`);
  } finally {
    await stopServer(child, over);
    await guard.finish().catch((error: unknown) => terminal.stderr.write(`walkback: ${String(error)}\n`));
    await sessions.close();
  }
};

export const defineMcp = (mcp: Command, app: App): void => {
  mcp
    .description(
      'Serve MCP on stdin and stdout: our tools for the repositories of a session, or, with a command, the tools of that ' +
        'server with a checkpoint before each.',
    )
    .argument('[command...]', 'the MCP server whose tools get checkpoints')
    .option('-s, --session <id>', 'session (default: the newest on --root, else a new one)', parseId)
    .option(
      '--root <dir>',
      'directory that holds the repositories (default: the current one)',
      parseDirectory,
    )
    .addOption(
      new Option('--reads <name>', 'a tool of that server that changes nothing; may be repeated')
        .argParser(collectTexts)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--on-checkpoint-error <what>',
        'block: the tool does not run; warn: it does, and stderr says so',
      )
        .choices(['block', 'warn'])
        .default('block'),
    )
    .addHelpText('after', helpText(EXAMPLES))
    .action(async (words: string[], options: Options, command: Command) => {
      const flags = command.optsWithGlobals<GlobalOptions>();
      await (words.length === 0 ? serve(app, flags, options) : wrap(app, flags, options, words));
    });
};
