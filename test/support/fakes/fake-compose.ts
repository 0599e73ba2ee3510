/** Three-way merges in the model of a sandbox: file by file, and HEAD as a whole. */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import type { FakeRepository } from './fake-repository.ts';

interface Merged {
  repository: FakeRepository;
  conflicts: Conflict[];
  host: 'taken' | 'kept' | undefined;
}

const mergeOne = (base: string | undefined, ours: string | undefined, theirs: string | undefined) => {
  if (theirs === base || theirs === ours) return { value: ours };
  return ours === base ? { value: theirs } : undefined;
};

/** `paths`: only these files, and no HEAD. */
export const mergeThreeWays = (
  path: string,
  sides: { base: FakeRepository; ours: FakeRepository; theirs: FakeRepository },
  paths: readonly string[] | undefined,
): Merged => {
  const { base, ours, theirs } = sides;
  const conflicts: Conflict[] = [];
  const files: Record<string, string> = {};
  for (const name of new Set([base, ours, theirs].flatMap((one) => Object.keys(one.files)))) {
    const isAsked = paths === undefined || paths.includes(name);
    const merged = isAsked
      ? mergeOne(base.files[name], ours.files[name], theirs.files[name])
      : { value: ours.files[name] };
    if (merged === undefined) {
      conflicts.push({ repository: path, path: name, kind: 'content', message: 'both sides changed it' });
    } else if (merged.value !== undefined) files[name] = merged.value;
  }
  const isHostAsked = paths === undefined && theirs.head !== base.head && theirs.head !== ours.head;
  const isTaken = isHostAsked && ours.head === base.head;
  const { head } = isTaken ? theirs : ours;
  return {
    repository: { files, ...(head !== undefined && { head }) },
    conflicts,
    host: isTaken ? 'taken' : isHostAsked ? 'kept' : undefined,
  };
};
