/** Faults of a disk and of a machine, at calls of the system that the sandbox program makes (sandbox/faults). */
import { sampled, WHOLE } from './sampling.ts';
import type { Fault, Kind, PlannedFault, Told } from './traced-program.ts';

/** Of calls that change something. */
export const KINDS = [
  'creates',
  'writes',
  'renames',
  'links',
  'removals',
  'directories',
  'modes',
  'syncs',
] as const satisfies Kind[];

/** What needs room. */
const NEEDS_ROOM = ['creates', 'writes', 'links', 'directories'] as const satisfies Kind[];
/** What a file system refuses that became read-only. Open files can still be synced. */
const CHANGES = KINDS.filter((kind) => kind !== 'syncs');

interface Trouble {
  /** Each kind is a row of its own: a call of it is met. */
  kinds: readonly (readonly Kind[])[];
  does: Fault;
}

const each = (kinds: readonly Kind[]): Kind[][] => kinds.map((kind) => [kind]);

/** What may happen at a call, by what a person would say of it. */
export const TROUBLES = {
  'no room for one call': {
    kinds: each(NEEDS_ROOM),
    does: { kind: 'fail', errno: 'ENOSPC', when: 'before' },
  },
  'no room from a call on': {
    kinds: [NEEDS_ROOM],
    does: { kind: 'fail', errno: 'ENOSPC', when: 'before', lasts: true },
  },
  'an error of the disk at one call': {
    kinds: each(KINDS),
    does: { kind: 'fail', errno: 'EIO', when: 'before' },
  },
  'an error told of a call that happened': {
    kinds: each(KINDS),
    does: { kind: 'fail', errno: 'EIO', when: 'after' },
  },
  'read-only from a call on': {
    kinds: [CHANGES],
    does: { kind: 'fail', errno: 'EROFS', when: 'before', lasts: true },
  },
  'a short write': { kinds: [['writes']], does: { kind: 'shorten', errno: 'ENOSPC' } },
  'killed before a call': { kinds: each(KINDS), does: { kind: 'kill', when: 'before' } },
  'killed after a call': { kinds: each(KINDS), does: { kind: 'kill', when: 'after' } },
  'power lost, and nothing that was not synced is there': {
    kinds: [KINDS],
    does: { kind: 'lose', when: 'before', keeps: 'nothing' },
  },
  'power lost, and names are there without their content': {
    kinds: [KINDS],
    does: { kind: 'lose', when: 'before', keeps: 'names' },
  },
  'power lost, and a part of what was not synced is there': {
    kinds: [KINDS],
    does: { kind: 'lose', when: 'after', keeps: 'some' },
  },
  'power lost after the answer, and nothing that was not synced is there': {
    kinds: [],
    does: { kind: 'lose-at-end', keeps: 'nothing' },
  },
  'power lost after the answer, and names are there without their content': {
    kinds: [],
    does: { kind: 'lose-at-end', keeps: 'names' },
  },
} as const satisfies Record<string, Trouble>;
export type TroubleName = keyof typeof TROUBLES;

export interface DiskFault {
  name: string;
  planned: PlannedFault;
}

/** One at each call of each kind, of a piece of work that made so many calls when nothing disturbed it. */
const everyDiskFault = (trouble: TroubleName, undisturbed: readonly Told[], seed: number): DiskFault[] => {
  const { kinds: rows, does }: Trouble = TROUBLES[trouble];
  // Each is followed by another call.
  if (does.kind === 'lose-at-end')
    return Array.from({ length: 4 }, (_, at) => ({ name: trouble, planned: { at, does } }));
  return rows.flatMap((kinds) => {
    const one = (told: Told): number => kinds.reduce((sum, kind) => sum + (told.calls[kind] ?? 0), 0);
    const count = Math.max(0, ...undisturbed.map(one));
    return Array.from({ length: count }, (_, index) => ({
      name: `${trouble}: ${kinds.join('+')} ${index + 1}`,
      planned: { kinds, at: index + 1, does: does.kind === 'lose' ? { ...does, seed: seed + index } : does },
    }));
  });
};

export interface Extent {
  /** Every nth fault; at least one. */
  every: number;
  /** The same in `npm run test:long`. */
  whole: number;
  seed: number;
}

export const chosenDiskFaults = (
  trouble: TroubleName,
  undisturbed: readonly Told[],
  { every, whole, seed }: Extent,
): DiskFault[] => {
  const faults = everyDiskFault(trouble, undisturbed, seed);
  const most = Math.max(1, trouble.includes('after the answer') && WHOLE ? 1 : faults.length);
  return sampled(faults, {
    every: Math.min(every, most),
    whole: Math.min(whole, most),
    offset: seed,
    minimum: 0,
  });
};

/** What was done, in the words of the tracer. Empty: the fault was not met. */
export const doneIn = (told: readonly Told[]): string =>
  told.flatMap(({ done }) => done.slice(0, 2)).join('; ');

/** Goes on after a case that fails: one run shows all of them. */
export const createVerdict = () => {
  const bad: string[] = [];
  return {
    /** Whether nothing was wrong. */
    check: async (name: string, act: () => void | Promise<void>): Promise<boolean> => {
      try {
        await act();
        return true;
      } catch (error) {
        bad.push(`${name}: ${error instanceof Error ? error.message.slice(0, 900) : String(error)}`);
        return false;
      }
    },
    bad,
  };
};
