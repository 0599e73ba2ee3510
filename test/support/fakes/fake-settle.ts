/** Settling a broken-off rollback, over the model of a repository: what it wrote, and the way back. */
import type { SettleReport } from '../../../core/checkpoint/ports/restore.ts';

/** A repository as the model has it; null: it is not there. */
export type Contents = { files: Record<string, string>; head?: string } | null;

/** One repository at the rollback's undo, at its target, and as it is now. */
export interface Ends {
  path: string;
  undo: Contents;
  target: Contents;
  now: Contents;
}

const HEAD = 'HEAD and branches';

const valuesOf = (contents: Contents): Map<string, string> =>
  new Map([
    ...Object.entries(contents?.files ?? {}),
    [HEAD, contents === null ? 'not there' : (contents.head ?? 'no commit')],
  ]);

type ValueOutcome = 'same' | 'reached' | 'unreached' | 'kept';

const outcomeOf = (undo?: string, target?: string, now?: string): ValueOutcome => {
  if (undo === target) return 'same';
  if (now === target) return 'reached';
  return now === undo ? 'unreached' : 'kept';
};

const outcomesIn = ({ undo, target, now }: Ends): Map<string, ValueOutcome> => {
  const [from, to, at] = [valuesOf(undo), valuesOf(target), valuesOf(now)];
  return new Map(
    [...new Set([...from.keys(), ...to.keys(), ...at.keys()])].map((name) => [
      name,
      outcomeOf(from.get(name), to.get(name), at.get(name)),
    ]),
  );
};

export const remnantsIn = (all: readonly Ends[]): SettleReport => {
  const outcomes = all.flatMap((ends) =>
    [...outcomesIn(ends)].map(([name, outcome]) => ({ ends, name, outcome })),
  );
  const reached = outcomes.filter(({ outcome }) => outcome === 'reached').length;
  const kept = outcomes
    .filter(({ outcome }) => outcome === 'kept')
    .map(({ ends, name }) => `${ends.path}/${name}`);
  return { reached, kept, keptNotListed: 0 };
};

/** What one repository holds then: what the rollback wrote goes back, the rest stays. */
export const settledContents = (ends: Ends): Contents => {
  const goal = ends.undo;
  const values = valuesOf(ends.now);
  const wanted = valuesOf(goal);
  for (const [name, outcome] of outcomesIn(ends)) {
    if (outcome !== 'reached') continue;
    const value = wanted.get(name);
    if (value === undefined) values.delete(name);
    else values.set(name, value);
  }
  const files = Object.fromEntries([...values].filter(([name]) => name !== HEAD));
  if (Object.keys(files).length === 0 && (goal === null || ends.now === null)) return goal;
  const keepsHead = outcomesIn(ends).get(HEAD) === 'kept' || goal === null || ends.now !== null;
  const head = values.get(HEAD);
  const isNone = head === 'no commit' || head === 'not there' || head === undefined;
  return { files, ...(isNone ? {} : { head: keepsHead ? head : goal?.head }) };
};
