import { PassThrough } from 'node:stream';
import type { App } from '../../cli/app.ts';
import { describeFailure, type Failure } from '../../cli/failure.ts';
import { createProgram } from '../../cli/program.ts';
import type { LocalSandboxes } from '../../cli/sandboxes.ts';
import type { DeployedName } from '../../contract/invoke.ts';

export interface Recorded {
  calls: { name: string; input: unknown }[];
  stdout: string;
  stderr: string;
  failure: Failure | undefined;
}

interface Scene {
  /** Set to interrupt the command. */
  signal?: AbortSignal;
  /** What each function answers, or what tells it (a promise, too); an error is thrown. */
  answers?: Partial<Record<DeployedName, unknown>>;
  sandboxes?: LocalSandboxes;
  /** What a person types; without it there is no terminal to type at. */
  typed?: string;
  env?: Record<string, string>;
  cwd?: string;
  user?: string;
  /** Who is signed in. */
  person?: string;
  now?: () => Date;
  /** Of the terminal that is written to; Infinity: there is none, but a pipe. */
  columns?: number;
  /** Progress is drawn again and again, as on a terminal. */
  isDrawn?: boolean;
}

/** Of a machine, for commands that only ask which there are. */
export const SANDBOXES: LocalSandboxes = {
  create: async () => 'x',
  createOver: async () => 'x',
  run: async () => undefined,
  places: async () => ({ rootfs: '/r', mounts: {} }),
  kill: async () => true,
};

/** Runs the real command line against functions that answer what the test says, recording what they were asked. */
export const runCommand = async (argv: string[], scene: Scene = {}): Promise<Recorded> => {
  const recorded: Recorded = { calls: [], stdout: '', stderr: '', failure: undefined };
  const invoke = async (name: DeployedName, input: unknown): Promise<unknown> => {
    recorded.calls.push({ name, input });
    const told = scene.answers?.[name];
    const answer: unknown = typeof told === 'function' ? told(input) : told;
    if (answer instanceof Error) throw answer;
    if (answer === undefined) throw new Error(`the test has no answer for ${name}`);
    return answer;
  };
  const stdin = Object.assign(new PassThrough(), {
    isTTY: scene.typed !== undefined,
    setRawMode: () => stdin,
  });
  if (scene.typed !== undefined) stdin.write(scene.typed);
  const { columns = 80 } = scene;
  const size = columns === Infinity ? {} : { columns };
  const app: App = {
    terminal: {
      env: scene.env ?? {},
      cwd: scene.cwd ?? '/work',
      user: scene.user,
      stdin,
      stdout: { write: (text) => (recorded.stdout += text), ...size },
      stderr: { write: (text) => (recorded.stderr += text), ...size, isTTY: scene.isDrawn },
      now: scene.now ?? (() => new Date(2026, 0, 2, 12)),
    },
    signal: scene.signal ?? new AbortController().signal,
    page: async (text) => void (recorded.stdout += text),
    connect: async () => ({
      invoke: invoke as Awaited<ReturnType<App['connect']>>['invoke'],
      ...(scene.sandboxes === undefined ? {} : { sandboxes: scene.sandboxes }),
      ...(scene.person === undefined ? {} : { person: scene.person }),
      close: async () => undefined,
    }),
  };
  try {
    await createProgram(app).parseAsync(argv, { from: 'user' });
  } catch (error) {
    recorded.failure = describeFailure(error);
  }
  return recorded;
};
