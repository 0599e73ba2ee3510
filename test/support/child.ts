/**
 * A server that is a child process and must never outlive us, not even a `kill -9` of ours: a bash supervisor
 * holds the read end of a pipe, and when that closes, for whatever reason, it ends the child.
 */
import { type ChildProcess, spawn } from 'node:child_process';

const SUPERVISOR = `
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill -TERM $child; for _ in {1..50}; do kill -0 $child || exit; sleep 0.1; done; kill -KILL $child; } 2>/dev/null >/dev/null &
watcher=$!
exec 3<&-
wait $child
code=$?
kill -TERM $watcher 2>/dev/null
exit $code
`;

export interface SupervisedChild {
  /** Resolves with everything it said when it has ended, for whatever reason. */
  ended: Promise<{ code: number | null; output: string }>;
  isRunning(): boolean;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
}

const collect = (child: ChildProcess): (() => string) => {
  let output = '';
  const add = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_000);
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => output;
};

export const superviseChild = (command: string, args: string[]): SupervisedChild => {
  // Its own process group: Ctrl-C in a terminal reaches only us, and we stop it when we are done with it.
  const child = spawn('bash', ['-c', SUPERVISOR, 'walkback-supervisor', command, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const output = collect(child);
  const { promise: ended, resolve } = Promise.withResolvers<{ code: number | null; output: string }>();
  let running = true;
  const finish = (code: number | null, text: string) => {
    running = false;
    resolve({ code, output: text });
  };
  child.on('error', (error) => finish(null, error.message));
  child.on('exit', (code) => finish(code, output()));
  child.stdin?.on('error', () => undefined);
  return {
    ended,
    isRunning: () => running,
    stop: async () => {
      child.stdin?.end();
      await ended;
    },
  };
};
