/**
 * External commands that fail when asked to. A PATH directory of shims for every command the program in the sandbox
 * starts: each passes to the real one, and at the nth call of one command it fails instead. Real processes, real
 * signals; nothing in the program knows of it.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandPath } from './command-path.ts';

/** What the program starts. */
const COMMANDS = ['curl', 'git'];

export interface CommandFault {
  command: string;
  /** Which of its calls fails; from 1. */
  call: number;
  /** Only calls with this word among their arguments count: what threads call meanwhile makes no difference then. */
  about?: string;
  /** `half`: half of what it reads from a list is done, else half of what it says comes out. */
  when: 'before' | 'half' | 'after';
  /** `exit`: it ends as it does when it fails. `kill`: it dies by SIGKILL, as when memory is out. `kill-program`: the program that started it does. */
  by: 'exit' | 'kill' | 'kill-program';
  /** Every later call of any command fails too, in the same way. */
  lasting?: boolean;
}

export interface CommandCall {
  command: string;
  /** From 1, among the calls of this command. */
  call: number;
  /** With its arguments, for a person. */
  line: string;
}

/** As each ends when it fails. */
const failed = (name: string): number => ({ git: 128 })[name] ?? 22;

/**
 * A shim. It starts nothing but the real command unless it is the one to fail: `armed` holds the order, and the file
 * `hit` is made by the one call that obeys it.
 */
const shim = (directory: string, name: string, real: string): string => `#!/bin/sh
[ -e ${directory}/armed ] || exec ${real} "$@"
read -r command call when by lasting about <${directory}/armed
if [ "$when" = count ]; then
  printf '%s %s\\0' '${name}' "$*" >>${directory}/log
  exec ${real} "$@"
fi
if [ -e ${directory}/hit ]; then
  [ "$lasting" = 1 ] || exec ${real} "$@"
else
  [ "$command" = ${name} ] || exec ${real} "$@"
  [ "$about" = - ] || case " $* " in *" $about "*) ;; *) exec ${real} "$@" ;; esac
  printf '.\\n' >>${directory}/calls
  seen=0
  while read -r _; do seen=$((seen + 1)); done <${directory}/calls
  [ "$seen" -ge "$call" ] || exec ${real} "$@"
  ( set -C; printf '%s\\n' '${name} '"$*" >${directory}/hit ) 2>/dev/null || [ "$lasting" = 1 ] || exec ${real} "$@"
fi
export PATH=${directory}/none:/usr/bin:/bin
own=$(mktemp -d)
half_of() {
  cat "$1" >$own/list
  records=$(tr -cd '\\0' <$own/list | wc -c)
  if [ "$records" -gt 0 ]; then head -z -n $((records / 2)) $own/list; else head -n $(($(wc -l <$own/list) / 2)) $own/list; fi
}
takes_list() {
  case $1 in *' -z --stdin'* | *--index-info* | *--batch*) ;; *) return 1 ;; esac
}
# Whoever asks waits for each answer, and does not end its questions before.
is_talk() {
  case $1 in *'cat-file --batch') ;; *) return 1 ;; esac
}
case $when in
  before) ;;
  after) ${real} "$@" ;;
  half)
    if [ -f /dev/stdin ] && takes_list "$*"; then
      half_of /dev/stdin | ${real} "$@"
    elif [ -p /dev/stdin ] && is_talk "$*"; then
      read -r asked
      printf '%s\\n' "$asked" | ${real} "$@" >$own/out
      head -c $(($(stat -c %s $own/out) / 2)) $own/out
    elif [ -p /dev/stdin ]; then
      cat >$own/in
      head -c $(($(stat -c %s $own/in) / 2)) $own/in | ${real} "$@"
    else
      ${real} "$@" >$own/out
      head -c $(($(stat -c %s $own/out) / 2)) $own/out
    fi
    ;;
esac
rm -rf $own
case $by in
  exit) exit ${failed(name)} ;;
  kill) kill -9 $$ ;;
  kill-program) kill -9 $PPID ;;
esac
`;

/** Numbers each call among those of its own command. */
const numbered = (log: string): CommandCall[] => {
  const seen = new Map<string, number>();
  return log
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const command = line.slice(0, line.indexOf(' '));
      const call = (seen.get(command) ?? 0) + 1;
      seen.set(command, call);
      return { command, call, line: line.trim() };
    });
};

export const commandFaults = () => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  for (const name of COMMANDS) {
    const real = commandPath(name);
    if (real !== undefined)
      writeFileSync(join(directory, name), shim(directory, name, real), { mode: 0o755 });
  }
  const clear = (): void => {
    for (const name of ['armed', 'log', 'calls', 'hit']) rmSync(join(directory, name), { force: true });
  };
  const text = (name: string): string => {
    const path = join(directory, name);
    return existsSync(path) ? readFileSync(path, 'latin1') : '';
  };
  return {
    /** For the environment of the sandbox: `createHarness({ env: faults.env })`. */
    env: { PATH: `${directory}:${process.env['PATH'] ?? ''}` },
    /** Every external command that `act` starts, in the order of their starts. */
    record: async (act: () => Promise<unknown>): Promise<CommandCall[]> => {
      clear();
      writeFileSync(join(directory, 'armed'), '- 0 count - - -\n');
      try {
        await act();
        return numbered(text('log'));
      } finally {
        clear();
      }
    },
    /** Runs `act` with one fault. `hit` is the command that failed, or undefined when that call never came. */
    withFault: async <T>(
      fault: CommandFault,
      act: () => Promise<T>,
    ): Promise<{ hit: string | undefined; value?: T; error?: unknown }> => {
      clear();
      const { command, call, when, by, lasting, about } = fault;
      writeFileSync(
        join(directory, 'armed'),
        `${command} ${call} ${when} ${by} ${lasting === true ? 1 : 0} ${about ?? '-'}\n`,
      );
      const hit = (): string | undefined => text('hit').trim() || undefined;
      try {
        const value = await act();
        return { hit: hit(), value };
      } catch (error) {
        return { hit: hit(), error };
      } finally {
        clear();
      }
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
};

const WAYS = [
  ['before', 'exit'],
  ['half', 'exit'],
  ['half', 'kill'],
  ['after', 'kill'],
  ['before', 'kill-program'],
  ['half', 'kill-program'],
] as const;

/** Each call, failing in each way that differs for who waits for it. */
export const everyFault = (calls: readonly CommandCall[]): CommandFault[] =>
  calls.flatMap(({ command, call }) => WAYS.map(([when, by]) => ({ command, call, when, by })));

export const faultName = ({ command, call, when, by }: CommandFault): string =>
  `${command} ${call} fails ${when} (${by})`;
