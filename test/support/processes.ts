/** The processes of this machine, as /proc shows them: `ps` and its like are not on every machine that runs the tests. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Empty where the process has ended meanwhile. */
const ofLiving = (look: () => string): string => {
  try {
    return look();
  } catch {
    return '';
  }
};

const read = (pid: string, name: string): string =>
  ofLiving(() => readFileSync(`/proc/${pid}/${name}`, 'latin1'));

const where = (holds: (pid: string) => boolean): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && holds(name))
    .map(Number);

/** Those whose command line holds the text. */
export const processesWith = (text: string): number[] =>
  where((pid) => read(pid, 'cmdline').replaceAll('\0', ' ').includes(text));

/** Those that work in this directory or below it. */
export const processesIn = (directory: string): number[] =>
  where((pid) => ofLiving(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(directory));

/** After the name, which may hold anything: state, parent, group, session and so on. */
const fieldsOf = (pid: string): string[] => read(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];

export const childrenOf = (parent: number): number[] => where((pid) => fieldsOf(pid)[1] === String(parent));

/** Answers how many there were to kill. */
export const killed = (pids: readonly number[]): number =>
  pids.filter((pid) => {
    try {
      return process.kill(pid, 'SIGKILL');
    } catch {
      // It had ended meanwhile.
      return false;
    }
  }).length;
