/**
 * The processes of one sandbox. It owns every process group that it started, from the start until the group
 * is empty, even after the command that led the group has ended.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ConnectFailure } from './connect-rpc.ts';
import { words } from './errno.ts';
import { groupIsAlive, signal, signalSandbox } from './process-kill.ts';
import { type CommandProcess, type ProcessStream, streamProcess } from './process-stream.ts';

export interface ProcessConfig {
  cmd: string;
  args: string[];
  envs: Record<string, string>;
  cwd?: string;
}

export interface StartOptions {
  /** Directory on this machine. */
  directory: string;
  environment: Record<string, string>;
  timeoutMs: number | undefined;
  keepaliveMs: number;
}

interface Running {
  config: ProcessConfig;
  child: CommandProcess;
  stream: ProcessStream;
  exited: Promise<unknown>;
}

/** In the daemon's own words, which contain the whole command. */
export const notStarted = ({ cmd, args }: ProcessConfig, why: string): ConnectFailure =>
  new ConnectFailure(
    'invalid_argument',
    `error starting process '${[cmd, ...args].join(' ')}': fork/exec /bin/sh: ${why}`,
  );

const spawnCommand = async (config: ProcessConfig, options: StartOptions): Promise<CommandProcess> => {
  try {
    // Started by a shell, like in the daemon: a missing program then gives an exit status, not a refusal.
    const child = spawn('/bin/sh', ['-c', 'exec "${@}"', '--', config.cmd, ...config.args], {
      cwd: options.directory,
      env: options.environment,
      // A session and group of its own, so that the whole group can be signalled.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await once(child, 'spawn');
    return child;
  } catch (cause) {
    throw notStarted(config, words(cause));
  }
};

export type Processes = ReturnType<typeof createProcesses>;

export const createProcesses = (sandboxId: string) => {
  const running = new Map<number, Running>();
  const leaders = new Set<number>();
  let closed = false;

  // The id of an empty group may be given to another process, so it is forgotten before any signal.
  const forgetEmptyGroups = (): void => {
    for (const leader of leaders) if (!running.has(leader) && !groupIsAlive(leader)) leaders.delete(leader);
  };
  const signalAll = (name: NodeJS.Signals): Promise<void> => {
    forgetEmptyGroups();
    return signalSandbox(sandboxId, [...leaders], name);
  };

  /** Signals are sent in the order of the calls, also when a sandbox is paused and resumed at the same time. */
  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };

  const kill = async (): Promise<void> => {
    const all = [...running.values()];
    for (const { stream } of all) stream.abort();
    await signalAll('SIGKILL');
    await Promise.all(all.map(({ exited }) => exited));
  };

  return {
    async start(config: ProcessConfig, options: StartOptions): Promise<ReadableStream<Uint8Array>> {
      forgetEmptyGroups();
      const child = await spawnCommand(config, options);
      const pid = child.pid;
      if (pid === undefined) throw new ConnectFailure('internal', 'The process has no id.');
      if (closed) {
        signal(-pid, 'SIGKILL');
        throw new ConnectFailure('unavailable', 'The sandbox is going away.');
      }
      const exited = once(child, 'exit');
      const stream = streamProcess(child, options);
      running.set(pid, { config, child, stream, exited });
      leaders.add(pid);
      child.once('exit', () => {
        running.delete(pid);
        forgetEmptyGroups();
      });
      return stream.events;
    },

    list: (): { pid: number; config: ProcessConfig }[] =>
      [...running].map(([pid, { config }]) => ({ pid, config })),

    /** Signals one command, not what it started. */
    signal(pid: number, name: NodeJS.Signals): void {
      if (!running.has(pid) || !signal(pid, name))
        throw new ConnectFailure('not_found', `process with pid ${pid} not found`);
    },

    /** Ends every process and every stream. Resolves when the commands themselves are gone. */
    kill: (): Promise<void> => inTurn(kill),

    /** Ends them for good, at once: nothing starts after it. */
    close(): Promise<void> {
      closed = true;
      return kill();
    },

    /** Stops everything where it is. Connections break, as when E2B pauses a sandbox. */
    freeze: (): Promise<void> =>
      inTurn(async () => {
        for (const { stream } of running.values()) stream.abort();
        await signalAll('SIGSTOP');
      }),

    thaw: (): Promise<void> => inTurn(() => signalAll('SIGCONT')),

    /** Resolves when all signals that were asked for so far are sent. */
    settled: (): Promise<void> => last,
  };
};
