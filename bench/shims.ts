/**
 * A directory for PATH in which git and curl, which the sandbox program starts, note how much processor time the real ones
 * took. What a command starts itself is counted with it.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commandPath } from '../test/support/command-path.ts';

const COMMANDS = ['git', 'curl'];

/** bash cuts to whole milliseconds: half of one is what that takes away on average. */
const CUT_OFF_MS = 0.5;

/** Of git, what it was asked to do is part of the name. */
const shim = (name: string, real: string, log: string): string => `#!/bin/bash
label=${name} skip=
if [ $label = git ]; then
  for word; do
    if [ -n "$skip" ]; then skip=; continue; fi
    case $word in -c | -C) skip=1 ;; -*) ;; *) label="git $word"; break ;; esac
  done
fi
exec {err}>&2
TIMEFORMAT="%3U %3S $label"
{ time ${real} "$@" 2>&$err; } 2>>${log}
`;

export interface ProcessCost {
  name: string;
  calls: number;
  cpuMs: number;
}

export interface Shims {
  path: string;
  /** What was started since the last time, the dearest first. */
  take(): ProcessCost[];
}

export const createShims = async (directory: string): Promise<Shims> => {
  const log = join(directory, 'log');
  const bin = join(directory, 'bin');
  const path = process.env['PATH'] ?? '';
  await mkdir(bin, { recursive: true });
  for (const name of COMMANDS) {
    const real = commandPath(name, path);
    if (real !== undefined) writeFileSync(join(bin, name), shim(name, real, log), { mode: 0o755 });
  }
  return {
    path: `${bin}:${path}`,
    take: () => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
      rmSync(log, { force: true });
      const costs = new Map<string, ProcessCost>();
      for (const line of lines) {
        const [user, system, ...words] = line.split(' ');
        const name = words.join(' ');
        const cost = costs.get(name) ?? { name, calls: 0, cpuMs: 0 };
        cost.calls += 1;
        cost.cpuMs += (Number(user) + Number(system)) * 1000 + CUT_OFF_MS;
        costs.set(name, cost);
      }
      return [...costs.values()].toSorted((a, b) => b.cpuMs - a.cpuMs);
    },
  };
};
