import { once } from 'node:events';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { dataDirFor } from '../../client/target.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import type { NotifyOptions } from '../../local/events/notify.ts';
import type { App, GlobalOptions } from '../app.ts';
import { CliError, isInterruption } from '../failure.ts';
import type { HookService } from '../hooks/service.ts';
import { collectPaths, idleMinutesIn, MINUTES_HELP, parseWholeNumber } from '../options.ts';
import { tellingFullDisk } from '../target/full-disk.ts';
import { spareMemory } from '../target/spare-memory.ts';
import { endWhenStuck } from '../target/stuck.ts';
import { helpText } from '../terminal/help-text.ts';
import { createProgress } from '../terminal/progress.ts';
import { paintFor } from '../terminal/terminal.ts';
import { cloudIsUp } from '../view/up-view.ts';

const EXAMPLES = `
Examples:
  walkback up
  walkback up --detach                         in the background; walkback down ends it
  walkback up --port 4400 --data ./.walkback
  walkback up --functions ./tools
  walkback up --notify http://127.0.0.1:8080/notices

While it runs, every other walkback command on the same data directory uses it.
A command that finds none starts one in the background, which ends by itself
when nobody used it for 15 minutes and no saga runs or waits (--idle, or
WALKBACK_IDLE_MINUTES; 0 is never). WALKBACK_DAEMON=off turns that off.`;

interface Options {
  port?: number;
  functions: string[];
  notify?: string;
  detach?: boolean;
  idle?: number;
  daemon?: boolean;
  asBefore?: boolean;
}

const parseMinutes = (text: string): number => {
  const minutes = idleMinutesIn(text);
  if (minutes !== undefined) return minutes;
  throw new InvalidArgumentError(MINUTES_HELP);
};

interface Facts {
  dataDir: string;
  options: Omit<Options, 'functions'>;
  /** Absent: those that it served before. */
  functions?: readonly string[];
  json: boolean;
}

/** In the background: starts the cloud if none runs, and says where it answers. */
const detach = async (app: App, { dataDir, options, functions, json }: Facts): Promise<void> => {
  const { terminal, signal } = app;
  const { ensureDaemon, idleMinutesOf } = await import('../target/daemon.ts');
  const progress = createProgress(terminal, { quiet: json, signal });
  const idleMinutes = options.idle ?? idleMinutesOf(terminal.env);
  const { daemon, isNew } = await progress('Starting the embedded cloud', () =>
    ensureDaemon(dataDir, { ...options, ...(functions && { functions }), idleMinutes, signal }),
  );
  const { pid, endpoints, environment, functions: served = [] } = daemon;
  const facts = { dataDir, endpoints, environment, functions: served };
  const how = `${isNew ? '' : 'It ran already, with what it was started with. '}walkback down stops it; its data stays.`;
  terminal.stdout.write(
    json ? `${JSON.stringify({ ...facts, pid, isNew })}\n` : cloudIsUp(facts, paintFor(terminal), how),
  );
};

/**
 * Where people are told. The authorization is not an option, because everybody on the machine can see
 * options.
 */
const notifyOf = (
  { notify }: Facts['options'],
  env: Readonly<Record<string, string | undefined>>,
): NotifyOptions | undefined => {
  const url = notify ?? env['WALKBACK_NOTIFY_URL'];
  const authorization = env['WALKBACK_NOTIFY_AUTHORIZATION'];
  if (url === undefined || url === '') return undefined;
  return { url, ...(authorization === undefined || authorization === '' ? {} : { authorization }) };
};

/** Logs problems that belong to no request, with the time: the `daemon.log` of a daemon. */
const logOn = (stderr: { write(text: string): unknown }): Log => ({
  info: () => undefined,
  warn: (message, facts) => {
    const more = facts === undefined ? '' : ` ${JSON.stringify(facts)}`;
    stderr.write(`${new Date().toISOString()} ${message}${more}\n`);
  },
});

/** Runs the cloud in this process until it is interrupted or, as a daemon, until nobody needs it. */
const runHere = async (app: App, { dataDir, options, functions, json }: Facts): Promise<void> => {
  const { terminal, signal } = app;
  const isDaemon = options.daemon === true;
  const progress = createProgress(terminal, { quiet: json, signal });
  const cloud = await progress('Starting the embedded cloud', async () => {
    // Loaded only when needed: otherwise every other command would load it too.
    const { startCloudHere } = await import('../target/own-sources.ts');
    const { port } = options;
    const notify = notifyOf(options, terminal.env);
    const more = { ...(port !== undefined && { port }), ...(notify !== undefined && { notify }) };
    return startCloudHere({ dataDir, announce: false, log: logOn(terminal.stderr), ...more }, functions);
  });
  // In a deployment this ends one instance of one function. Here it would end the whole cloud.
  const tellStray = (error: unknown): void => {
    terminal.stderr.write(
      `${new Date().toISOString()} A function of Walkback left a promise that failed and that nobody awaits: ${inspect(error)}\n`,
    );
  };
  process.on('unhandledRejection', tellStray);
  let hooks: HookService | undefined;
  const endSparing = spareMemory(cloud);
  try {
    const { startHookService } = await import('../hooks/service.ts');
    hooks = await startHookService(dataDir, cloud.at('/hooks'));
    // A program that finds the cloud finds the hooks too.
    await cloud.announce();
    const { endpoints, environment, ownFunctions } = cloud;
    const facts = { dataDir, endpoints, environment, functions: ownFunctions };
    // A daemon's output is a file, and keys do not belong there.
    if (!isDaemon) {
      terminal.stdout.write(
        json
          ? `${JSON.stringify({ ...facts, pid: process.pid })}\n`
          : cloudIsUp(facts, paintFor(terminal), 'Ctrl-C stops it; its data stays.'),
      );
    }
    if (isDaemon || options.idle !== undefined) {
      const { untilIdle } = await import('../target/idle.ts');
      await untilIdle(cloud, (options.idle ?? 0) * 60_000, signal);
    } else if (!signal.aborted) await once(signal, 'abort');
    if (signal.aborted && !isInterruption(signal.reason)) throw signal.reason;
  } finally {
    endSparing();
    process.off('unhandledRejection', tellStray);
    await hooks?.close();
    await cloud.close();
    endWhenStuck(cloud);
  }
  if (!json) terminal.stderr.write('The embedded cloud stopped; its data stays.\n');
};

export const defineUp = (up: Command, app: App): void => {
  up.description(
    'Run the embedded cloud, in the foreground or with --detach in the background: loopback endpoints that ' +
      'speak the AWS and E2B protocols, over one data directory that persists. Prints every endpoint and the ' +
      'environment to export.',
  )
    .option(
      '--port <n>',
      'port of the endpoints for programs; sign-in, and the API with the console, take the two after it',
      parseWholeNumber(1, 65_000),
    )
    .addOption(
      new Option(
        '--functions <path>',
        'also serve the functions of a directory (modules that export `handler`) or of one module; may be repeated',
      )
        .argParser(collectPaths)
        .default([], 'none'),
    )
    .option(
      '--notify <url>',
      'POST approvals that wait and failed compensations there (or WALKBACK_NOTIFY_URL; its header ' +
        'Authorization: WALKBACK_NOTIFY_AUTHORIZATION)',
    )
    .option('-d, --detach', 'in the background; answers when it is up')
    .option(
      '--idle <minutes>',
      'end when nobody used it for so long (default: never; with --detach 15)',
      parseMinutes,
    )
    .addOption(new Option('--daemon', 'this is the process in the background').hideHelp())
    .addOption(
      new Option(
        '--as-before',
        'serves the functions that were served before, and tells who was told',
      ).hideHelp(),
    )
    .addHelpText('after', helpText(EXAMPLES))
    .action(async (given: Options, command: Command) => {
      const { json, aws, data } = command.optsWithGlobals<GlobalOptions>();
      const { env, cwd } = app.terminal;
      if (aws === true)
        throw new CliError('InvalidInput', 'walkback up runs the embedded cloud; --aws makes no sense.');
      const { functions: named, ...options } = given;
      // The client starts the cloud with this command, and does not know what the cloud serves.
      const isAsBefore = named.length === 0 && options.asBefore === true;
      const facts: Facts = {
        dataDir: dataDirFor(data, env, cwd),
        options,
        ...(isAsBefore ? {} : { functions: named.map((path) => resolve(cwd, path)) }),
        json: json === true,
      };
      await tellingFullDisk(facts.dataDir, () =>
        given.detach === true ? detach(app, facts) : runHere(app, facts),
      );
    });
};
