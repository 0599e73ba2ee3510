/** Checks for a merge that requires its target to be unchanged since the work began. Pure. */
import { WalkbackError } from '../../shared/errors.ts';
import type { RepositoryState } from '../model.ts';
import type { States } from './decide.ts';

const MAX_NAMED = 20;

const again =
  'Nothing was changed. Fork again from where it stands, merge and verify there, then apply that.';

/** Undefined: the repository is not there. A repository that could not be captured equals no other. */
const stateOf = (states: States, path: string): string | undefined => {
  const found = states.find((one): one is RepositoryState => one.path === path);
  if (found === undefined || found.state === 'absent') return undefined;
  return found.state === 'captured' ? `${found.tree} ${found.meta}` : 'failed';
};

/** Throws `TargetMoved` with the names of the repositories, unless each is the same as at the base. */
export const requireUnchanged = (sessionId: string, now: States, base: States): void => {
  const paths = [...new Set([...now, ...base].map(({ path }) => path))].toSorted();
  const moved = paths.filter((path) => {
    const [is, was] = [stateOf(now, path), stateOf(base, path)];
    return is !== was || is === 'failed';
  });
  if (moved.length === 0) return;
  const more = moved.length > MAX_NAMED ? ` and ${moved.length - MAX_NAMED} more` : '';
  throw new WalkbackError(
    'TargetMoved',
    `Session "${sessionId}" was worked in since: ${moved.slice(0, MAX_NAMED).join(', ')}${more}. ${again}`,
    { details: { repositories: moved.slice(0, 200) } },
  );
};

/** The state that the work was made on was rolled back, so the merge would bring that state back too. */
export const rolledBack = (sessionId: string, checkpointId: string | null): WalkbackError =>
  new WalkbackError(
    'TargetMoved',
    `Session "${sessionId}" was rolled back to before checkpoint ${checkpointId ?? '(gone)'}, which the work was made on. ${again}`,
    { details: { repositories: [], checkpointId } },
  );
