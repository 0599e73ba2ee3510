/** Where the processor time of this process goes, by the package or folder whose code ran. */
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = `${import.meta.dirname}/..`;
const MICROSECONDS = 1_000;

/** By share, the largest first. */
export interface ProfiledCode {
  /** `@smithy/core`, `core/saga`, `node:crypto`, `(garbage collector)`. */
  code: string;
  cpuMs: number;
}

type Node = Profiler.ProfileNode;

/** The package or the folder of a file: two names deep is where an idea lives in this project. */
const codeOf = (url: string): string => {
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const parts = path.split(sep);
  const modules = parts.lastIndexOf('node_modules');
  if (modules >= 0) {
    const [scope = '', name = ''] = parts.slice(modules + 1);
    return scope.startsWith('@') ? `${scope}/${name}` : scope;
  }
  return relative(PROJECT, path).split(sep).slice(0, 2).join('/');
};

/** What the engine itself does is its caller's: reading a file, hashing. Collecting garbage is nobody's. */
const nameCode = (nodes: readonly Node[]): ((id: number) => string) => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const named = (id: number | undefined): string => {
    const frame = id === undefined ? undefined : byId.get(id)?.callFrame;
    if (frame === undefined || frame.functionName === '(root)') return '(engine)';
    if (frame.functionName.startsWith('(')) return frame.functionName;
    return frame.url === '' ? named(parents.get(id ?? 0)) : codeOf(frame.url);
  };
  return named;
};

/** Not of the work. */
const LEFT_OUT = new Set(['(idle)', 'node:inspector', 'bench/cloud-child.ts']);

/** Starts to look; what it answers ends that and tells. Time in which nothing ran is left out. */
export const startProcessorProfile = async (): Promise<() => Promise<ProfiledCode[]>> => {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    session.disconnect();
    const codeAt = nameCode(profile.nodes);
    const sums = new Map<string, number>();
    for (const [n, id] of (profile.samples ?? []).entries()) {
      const code = codeAt(id);
      if (LEFT_OUT.has(code)) continue;
      sums.set(code, (sums.get(code) ?? 0) + (profile.timeDeltas?.[n] ?? 0) / MICROSECONDS);
    }
    return [...sums]
      .map(([code, cpuMs]) => ({ code, cpuMs }))
      .toSorted((one, other) => other.cpuMs - one.cpuMs);
  };
};
