/**
 * Decides what becomes of each repository when the changes between two states are added to the state of now,
 * or taken out of it. Whole repositories are decided here. Changes inside one repository are merged in a
 * sandbox. Pure.
 */
import type { Conflict } from '../../../contract/rollback-answers.ts';
import type { CapturedRepositoryState, RepositoryState } from '../model.ts';
import type { ComposeStep } from '../ports/compose.ts';
import type { SelectedPaths } from './select-paths.ts';

export type States = readonly RepositoryState[];

/** One change to apply to the state of now: whatever happened between `base` and `theirs`. */
export interface Step {
  base: States;
  theirs: States;
  /** The name under which `theirs` was captured, when it belongs to the same session. */
  tag?: string;
}

/** The same repository on both sides of a step. */
interface StatesOfStep {
  base: CapturedRepositoryState;
  theirs: CapturedRepositoryState;
}

export type Decision =
  | { path: string; action: 'keep' }
  /** `tag`: the capture in which the repository was not there, when that capture belongs to the same session. */
  | { path: string; action: 'leave'; tag?: string }
  /**
   * Takes the repository whole, as `state` has it: it is not there now, or its chain belongs to the same
   * session.
   */
  | { path: string; action: 'take'; state: CapturedRepositoryState }
  | {
      path: string;
      action: 'merge';
      steps: ComposeStep[];
      /** The repository's states in these steps. */
      states: StatesOfStep[];
      paths?: string[];
    };

/**
 * A repository's state while the steps are applied: gone, as now, taken whole, or with steps that a sandbox
 * must merge.
 */
type Current =
  | { kind: 'gone'; tag?: string | undefined }
  | { kind: 'now'; state: CapturedRepositoryState }
  | { kind: 'taken'; state: CapturedRepositoryState; from: CapturedRepositoryState | undefined }
  | {
      kind: 'merging';
      state: CapturedRepositoryState;
      steps: StatesOfStep[];
    };

const at = (states: States, path: string): CapturedRepositoryState | undefined =>
  states.find((one): one is CapturedRepositoryState => one.path === path && one.state === 'captured');

const isSame = (a: CapturedRepositoryState | undefined, b: CapturedRepositoryState | undefined): boolean =>
  a?.tree === b?.tree && a?.meta === b?.meta;

const isFailed = (states: States, path: string): boolean =>
  states.some((one) => one.path === path && one.state === 'failed');

/** Whether the step holds no change, so that it leaves the state of now as it is. */
export const isIdle = ({ base, theirs }: Step): boolean =>
  [...base, ...theirs].every(
    ({ path, state }) => state !== 'failed' && isSame(at(base, path), at(theirs, path)),
  );

const clash = (repository: string, message: string): Conflict => ({
  repository,
  path: '.',
  kind: 'repository',
  message,
});

/** The state after one more step. A string: why the two sides conflict about the repository. */
const next = (
  current: Current,
  base: CapturedRepositoryState | undefined,
  theirs: CapturedRepositoryState | undefined,
  isWhole: boolean,
): Current | string => {
  if (isSame(base, theirs)) return current;
  if (current.kind === 'gone') {
    if (theirs === undefined) return current;
    return base === undefined
      ? { kind: 'taken', state: theirs, from: undefined }
      : 'it is gone on one side and changed on the other';
  }
  if (current.kind !== 'merging' && isSame(current.state, theirs)) return current;
  if (theirs === undefined) {
    const isUntouched = current.kind !== 'merging' && isSame(current.state, base);
    return isUntouched ? { kind: 'gone' } : 'it is gone on one side and changed on the other';
  }
  if (base === undefined) return 'both sides made a repository here';
  if (isWhole && current.kind !== 'merging' && isSame(current.state, base)) {
    return { kind: 'taken', state: theirs, from: presentOf(current) };
  }
  const from = presentOf(current);
  if (from === undefined) return 'it is not there now';
  const begun = current.kind === 'taken' ? [{ base: from, theirs: current.state }] : [];
  const before = current.kind === 'merging' ? current.steps : [];
  return { kind: 'merging', state: from, steps: [...before, ...begun, { base, theirs }] };
};

/** The repository as it is now, which a merge in the sandbox begins from. */
const presentOf = (current: Exclude<Current, { kind: 'gone' }>): CapturedRepositoryState | undefined =>
  current.kind === 'taken' ? current.from : current.state;

const idsOf = ({ tree, meta }: CapturedRepositoryState) => ({ tree, meta });

const decision = (path: string, current: Current, paths: string[] | undefined): Decision => {
  switch (current.kind) {
    case 'gone':
      return { path, action: 'leave', ...(current.tag !== undefined && { tag: current.tag }) };
    case 'now':
      return { path, action: 'keep' };
    case 'taken':
      return { path, action: 'take', state: current.state };
    case 'merging':
      return {
        path,
        action: 'merge',
        steps: current.steps.map(({ base, theirs }) => ({ base: idsOf(base), theirs: idsOf(theirs) })),
        states: current.steps,
        ...(paths !== undefined && { paths }),
      };
  }
};

/**
 * What becomes of one repository. `paths`: only these in it. A state of the same session (`isOwn`) is stored
 * already, so it is taken as it is where nothing has to be merged with it.
 */
const decideOne = (
  path: string,
  now: States,
  steps: readonly Step[],
  paths: string[] | undefined,
  isOwn: (state: RepositoryState) => boolean,
): Decision | Conflict => {
  const present = at(now, path);
  let current: Current = present === undefined ? { kind: 'gone' } : { kind: 'now', state: present };
  for (const { base, theirs, tag } of steps) {
    if (isFailed(base, path) || isFailed(theirs, path)) {
      return clash(path, 'a checkpoint that is needed does not hold it');
    }
    const [from, to] = [at(base, path), at(theirs, path)];
    if (
      paths !== undefined &&
      !isSame(from, to) &&
      (from === undefined || to === undefined || current.kind === 'gone')
    ) {
      return clash(path, 'it is not on both sides: name the repository itself, not files in it');
    }
    const isWhole = paths === undefined && to !== undefined && isOwn(to);
    const moved = next(current, from, to, isWhole);
    if (typeof moved === 'string') return clash(path, moved);
    current = moved.kind === 'gone' && current.kind !== 'gone' ? { kind: 'gone', tag } : moved;
  }
  return decision(path, current, paths);
};

/** Every repository of any of the states, sorted by path. */
export const decideRepositories = (
  now: States,
  steps: readonly Step[],
  { selected, isOwn }: { selected?: SelectedPaths | undefined; isOwn: (state: RepositoryState) => boolean },
): { decisions: Decision[]; conflicts: Conflict[] } => {
  const all = [now, ...steps.flatMap(({ base, theirs }) => [base, theirs])].flat();
  const decisions: Decision[] = [];
  const conflicts: Conflict[] = [];
  for (const path of [...new Set(all.map((state) => state.path))].toSorted()) {
    const paths = selected === undefined ? undefined : selected.get(path);
    const isConcerned = selected === undefined || paths !== undefined;
    const inside = paths === 'whole' ? undefined : paths;
    const made: Decision | Conflict = isConcerned
      ? decideOne(path, now, steps, inside, isOwn)
      : { path, action: at(now, path) === undefined ? 'leave' : 'keep' };
    if ('action' in made) decisions.push(made);
    else conflicts.push(made);
  }
  return { decisions, conflicts };
};
